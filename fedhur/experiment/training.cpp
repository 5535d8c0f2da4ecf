#include "fedhur/experiment/training.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/manifest.hpp"
#include "fedhur/experiment/simulation.hpp"
#include "fedhur/experiment/stored_model.hpp"

namespace fedhur::experiment {
namespace {
Sitting describe_sitting(const Simulation& simulation, Round first_round) {
  return {.method = simulation.config.method,
          .seed = simulation.config.seed,
          .num_clients = simulation.num_clients(),
          .num_threads = simulation.executor.num_threads(),
          .first_round = first_round};
}

// A dump that was asked for and never came should not go unnoticed.
void report_missing_dump(const Simulation& simulation, Round rounds_done,
                         const TrainingHooks& hooks) {
  if (!simulation.dump || rounds_done >= simulation.dump->round) return;
  warn(hooks, fmt::format("the run stopped after round {}: round {} was not dumped to {}",
                          rounds_done, simulation.dump->round, simulation.dump->folder.string()));
}

TrainingOutcome run(Simulation& simulation, Progress progress, const RunFolder& folder,
                    const TrainingHooks& hooks, const Stopwatch& sitting) {
  transport::InProcessFederation transport = simulation.connect();
  RunParts parts{.config = simulation.config,
                 .dataset = simulation.dataset,
                 .train_counts = simulation.train_counts,
                 .server = *simulation.server,
                 .federation = transport,
                 .save =
                     [&](const Progress& now) {
                       write_checkpoint(folder.checkpoints(), now, *simulation.server,
                                        simulation.party);
                     },
                 .checkpoint_every = simulation.config.checkpoint.every};
  if (simulation.dump) {
    parts.on_trained = [&](Round round) {
      if (simulation.dump->is_of(round)) dump_fine_tuned(*simulation.dump, simulation.party);
    };
  }
  if (hooks.keeps_model) {
    parts.write_model = [&] { write_model(folder.model(), simulation.dataset, simulation.party); };
  }
  const TrainingOutcome outcome = run_rounds(parts, std::move(progress), folder, hooks, sitting);
  report_missing_dump(simulation, outcome.result.num_rounds, hooks);
  return outcome;
}
}  // namespace

TrainingOutcome train(const ResolvedConfig& resolved, const RunFolder& folder,
                      const TrainingHooks& hooks, const std::optional<DumpConfig>& dump) {
  const Stopwatch sitting;
  if (dump) check_dump(*dump, resolved.config);
  Simulation simulation = make_simulation(resolved.config, dump);
  if (dump) create_folder(*dump);
  begin_sitting(folder.manifest(), describe_sitting(simulation, 0), simulation.dataset);
  auto settings = resolved.settings;
  for (const auto& [key, value] : simulation.decided) {
    std::ranges::find(settings, key, &Setting::key)->value = value;
  }
  write_file_atomically(folder.config(), to_toml(settings));
  inform(hooks, describe(simulation));
  if (simulation.dataset.skipped_rows > 0) {
    warn(hooks, fmt::format("{} bad rows were skipped", simulation.dataset.skipped_rows));
  }
  return run(simulation, {}, folder, hooks, sitting);
}

TrainingOutcome resume(const RunFolder& folder, Index threads, const TrainingHooks& hooks) {
  const Stopwatch sitting;
  if (folder.is_finished()) {
    inform(hooks, fmt::format("{} is finished already", folder.path().string()));
    return {.was_interrupted = false,
            .result = report::run_result_from_json(read_text_file(folder.result()))};
  }
  ConfigTable table;
  add_toml_file(table, folder.config());
  ExperimentConfig config = resolve(table).config;
  if (threads > 0) config.threads = threads;
  Simulation simulation = make_simulation(std::move(config));
  check_same_data(folder.manifest(), simulation.dataset);
  inform(hooks, describe(simulation));
  Progress progress = restore_checkpoint(folder.checkpoints(), *simulation.server, simulation.party)
                          .value_or(Progress{});
  inform(hooks, fmt::format("going on with round {}", progress.next_round + 1));
  begin_sitting(folder.manifest(), describe_sitting(simulation, progress.next_round),
                simulation.dataset);
  return run(simulation, std::move(progress), folder, hooks, sitting);
}
}  // namespace fedhur::experiment
