#include "fedhur/experiment/training.hpp"

#include <fmt/format.h>

#include <cmath>

#include "fedhur/base/file.hpp"
#include "fedhur/base/stopwatch.hpp"
#include "fedhur/experiment/manifest.hpp"
#include "fedhur/experiment/simulation.hpp"
#include "fedhur/experiment/stored_model.hpp"
#include "fedhur/report/inside_report.hpp"
#include "fedhur/transport/in_process/in_process_federation.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;
using report::RoundReport;
namespace {
void warn(const TrainingHooks& hooks, const std::string& message) {
  if (hooks.on_warning) hooks.on_warning(message);
}

void inform(const TrainingHooks& hooks, const std::string& message) {
  if (hooks.on_info) hooks.on_info(message);
}

struct RoundOutcome {
  RoundReport report;
  NamedArrays inside;
};

// The method's round, then the evaluation of its outcome.
RoundOutcome run_round(Round round, Simulation& simulation, const Progress& progress,
                       federation::CountingFederation& federation, const TrainingHooks& hooks) {
  const auto begin_phase = [&](const char* phase) {
    if (hooks.on_phase) hooks.on_phase(round, phase);
  };
  RoundReport report;
  report.round = round;
  begin_phase("training");
  federation::RoundNotes notes = simulation.server->run_round(round, federation);
  report.loss = notes.loss;
  report.seconds = std::move(notes.seconds);
  report.numbers = std::move(notes.numbers);
  report.traffic = federation.take();
  if (simulation.dump && simulation.dump->is_of(round)) {
    dump_fine_tuned(*simulation.dump, simulation.clients);
  }

  begin_phase("evaluation");
  const Stopwatch evaluation;
  const evaluate::EvaluationConfig& config = simulation.config.evaluation;
  const evaluate::Quality quality = evaluate::evaluate_clients(federation, round, config.cutoffs);
  report.valid = quality.valid.means();
  report.test = quality.test.means();
  // Without validation rows there is nothing to choose by: the last round counts.
  report.is_best = round == 0 || quality.valid.num_users() == 0.0 ||
                   report.valid.at(config.criterion) > progress.best_score;
  if (report.is_best) evaluate::keep_models(federation, round);
  report.seconds["evaluation"] = evaluation.seconds();
  for (const auto& [kind, bytes] : federation.take()) report.traffic[kind] = bytes;
  notes.inside.set("test_by_activity", quality.test_breakdown.by_activity());
  notes.inside.set("test_by_popularity", quality.test_breakdown.by_popularity());
  return {.report = std::move(report), .inside = std::move(notes.inside)};
}

void add_round(Progress& progress, const RoundOutcome& outcome, const std::string& criterion) {
  const RoundReport& report = outcome.report;
  progress.next_round = report.round + 1;
  if (report.is_best) {
    progress.best_round = report.round;
    progress.best_score = report.valid.at(criterion);
    progress.best_valid = report.valid;
    progress.best_test = report.test;
    progress.inside = outcome.inside;
  }
  for (const auto& [phase, seconds] : report.seconds) progress.seconds[phase] += seconds;
  for (const auto& [kind, bytes] : report.traffic) {
    if (!report::belongs_to_method(kind)) continue;
    progress.bytes_up += static_cast<double>(bytes.up);
    progress.bytes_down += static_cast<double>(bytes.down);
  }
}

bool is_over(const Progress& progress, const Simulation& simulation) {
  const StopConfig& stop = simulation.config.stop;
  if (progress.next_round == 0) return false;
  if (progress.next_round >= stop.max_rounds || simulation.server->is_finished()) return true;
  const Round rounds_since_best = progress.next_round - 1 - progress.best_round;
  return progress.next_round >= stop.min_rounds && rounds_since_best >= stop.patience;
}

// Decides when a checkpoint is worth its time.
class CheckpointClock {
 public:
  explicit CheckpointClock(Round every) : every_(every) {}
  [[nodiscard]] bool is_due(Round next_round) const {
    if (every_ > 0) return next_round % every_ == 0;
    constexpr double kMostShare = 0.05;
    return since_last_.seconds() * kMostShare >= last_cost_;
  }
  void note(double cost) {
    last_cost_ = cost;
    since_last_ = Stopwatch();
  }

 private:
  Round every_;
  double last_cost_ = 0.05;  // a guess until the first was written
  Stopwatch since_last_;
};

// A resumed run repeats the rounds after its checkpoint; they must come out as they did before.
void compare_with_record(const RoundReport& report, const std::vector<RoundReport>& record,
                         const TrainingHooks& hooks) {
  for (const RoundReport& before : record) {
    if (before.round != report.round || before.valid == report.valid) continue;
    warn(hooks,
         fmt::format("round {} came out differently from before the interruption: was it another "
                     "build or CPU?",
                     report.round + 1));
  }
}

report::RunResult make_result(const Progress& progress, const Simulation& simulation,
                              const RunFolder& folder) {
  const double client_rounds =
      static_cast<double>(simulation.clients.size()) * static_cast<double>(progress.next_round);
  return {.method = simulation.config.method,
          .data = simulation.dataset.name,
          .seed = simulation.config.seed,
          .num_clients = static_cast<Index>(simulation.clients.size()),
          .num_users = simulation.dataset.num_users(),
          .num_items = simulation.dataset.num_items(),
          .num_rounds = progress.next_round,
          .best_round = progress.best_round + 1,
          .valid = progress.best_valid,
          .test = progress.best_test,
          .seconds = progress.seconds,
          .bytes_up = progress.bytes_up / client_rounds,
          .bytes_down = progress.bytes_down / client_rounds,
          .peak_rss_mb = peak_rss_mb(),
          .run = folder.path().string()};
}

void write_inside(const Progress& progress, const Simulation& simulation, const RunFolder& folder) {
  const std::string json = report::to_json(report::InsideReport{
      .round = progress.best_round,
      .num_clients = static_cast<Index>(simulation.clients.size()),
      .cutoff = evaluate::headline_cutoff(simulation.config.evaluation.cutoffs),
      .arrays = progress.inside,
      .dataset = simulation.dataset,
      .train_counts = simulation.train_counts});
  write_file_atomically(folder.inside(), json + "\n");
}

// The result comes last: a run folder with a result is whole.
report::RunResult finish(const Progress& progress, const Simulation& simulation,
                         const RunFolder& folder, bool keeps_model) {
  if (keeps_model) write_model(folder.model(), simulation.dataset, simulation.clients);
  write_inside(progress, simulation, folder);
  report::RunResult result = make_result(progress, simulation, folder);
  write_file_atomically(folder.result(), report::to_json(result) + "\n");
  for (const auto& entry : fs::directory_iterator(folder.checkpoints())) fs::remove(entry.path());
  return result;
}

Sitting describe_sitting(const Simulation& simulation, Round first_round) {
  return {.method = simulation.config.method,
          .seed = simulation.config.seed,
          .num_clients = static_cast<Index>(simulation.clients.size()),
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
  const message::WireFormat& format = simulation.config.wire.format;
  transport::InProcessFederation transport(simulation.client_methods(), simulation.executor,
                                           format);
  federation::CountingFederation federation(transport, format);
  const std::vector<RoundReport> record = folder.read_rounds();
  folder.keep_rounds_before(progress.next_round);
  const double seconds_before = progress.seconds["total"];
  CheckpointClock clock(simulation.config.checkpoint.every);
  const auto save = [&] {
    const Stopwatch watch;
    write_checkpoint(folder.checkpoints(), progress, *simulation.server, simulation.clients);
    write_inside(progress, simulation, folder);
    clock.note(watch.seconds());
  };
  while (!is_over(progress, simulation)) {
    const RoundOutcome outcome =
        run_round(progress.next_round, simulation, progress, federation, hooks);
    const RoundReport& report = outcome.report;
    add_round(progress, outcome, simulation.config.evaluation.criterion);
    progress.seconds["total"] = seconds_before + sitting.seconds();
    folder.append_round(report);
    compare_with_record(report, record, hooks);
    if (hooks.on_round) hooks.on_round(report, simulation.config);
    if (is_over(progress, simulation)) break;
    const bool is_interrupted = hooks.should_stop && hooks.should_stop();
    if (is_interrupted || clock.is_due(progress.next_round)) save();
    if (is_interrupted) {
      report_missing_dump(simulation, progress.next_round, hooks);
      end_sitting(folder.manifest(), progress.next_round);
      return {.was_interrupted = true, .result = make_result(progress, simulation, folder)};
    }
  }
  const report::RunResult result = finish(progress, simulation, folder, hooks.keeps_model);
  report_missing_dump(simulation, progress.next_round, hooks);
  end_sitting(folder.manifest(), progress.next_round);
  return {.was_interrupted = false, .result = result};
}

}  // namespace

TrainingOutcome train(ConfigTable& table, const RunFolder& folder, const TrainingHooks& hooks,
                      const std::optional<DumpConfig>& dump) {
  const Stopwatch sitting;
  ExperimentConfig config = read_experiment_config(table);
  if (dump) check_dump(*dump, config);
  Simulation simulation = make_simulation(table, std::move(config), dump);
  if (dump) create_folder(*dump);
  begin_sitting(folder.manifest(), describe_sitting(simulation, 0), simulation.dataset);
  write_file_atomically(folder.config(), to_toml(table));
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
  ExperimentConfig config = read_experiment_config(table);
  if (threads > 0) config.threads = threads;
  Simulation simulation = make_simulation(table, std::move(config), std::nullopt);
  check_same_data(folder.manifest(), simulation.dataset);
  inform(hooks, describe(simulation));
  Progress progress =
      restore_checkpoint(folder.checkpoints(), *simulation.server, simulation.clients)
          .value_or(Progress{});
  inform(hooks, fmt::format("going on with round {}", progress.next_round + 1));
  begin_sitting(folder.manifest(), describe_sitting(simulation, progress.next_round),
                simulation.dataset);
  return run(simulation, std::move(progress), folder, hooks, sitting);
}
}  // namespace fedhur::experiment
