#include "fedhur/experiment/round_loop.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/manifest.hpp"
#include "fedhur/federation/dropout.hpp"
#include "fedhur/federation/timing.hpp"
#include "fedhur/federation/traffic.hpp"
#include "fedhur/report/inside_report.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;
using report::RoundReport;

void warn(const TrainingHooks& hooks, const std::string& message) {
  if (hooks.on_warning) hooks.on_warning(message);
}

void inform(const TrainingHooks& hooks, const std::string& message) {
  if (hooks.on_info) hooks.on_info(message);
}

namespace {
struct RoundOutcome {
  RoundReport report;
  NamedArrays inside;
};

// Bytes are counted of what travels. Dropout is of the method's rounds alone: all clients are
// evaluated, and keep the model they were evaluated with.
struct Clients {
  explicit Clients(const RunParts& parts)
      : all(parts.federation, parts.config.wire.format),
        there(all, parts.config.dropout, Rng(parts.config.seed)) {}
  federation::CountingFederation all;
  federation::DropoutFederation there;
};

std::vector<Index> take_absentees(const RunParts& parts, Clients& clients) {
  std::vector<Index> absentees;
  const auto taken = parts.take_absentees ? parts.take_absentees() : clients.there.take_absentees();
  for (const ClientId client : taken) absentees.push_back(index_of(client));
  return absentees;
}

bool was_newest_best(const Progress& progress) {
  return progress.next_round > 0 && progress.best_round == progress.next_round - 1;
}

// The method's round, then the evaluation of its outcome.
RoundOutcome run_round(Round round, const RunParts& parts, const Progress& progress,
                       Clients& clients, const TrainingHooks& hooks) {
  const auto begin_phase = [&](const char* phase) {
    if (hooks.on_phase) hooks.on_phase(round, phase);
  };
  RoundReport report;
  report.round = round;
  // After the checkpoint that says so: a client that missed it because the server was killed is
  // told after the restart.
  if (was_newest_best(progress)) keep_models(clients.all, progress.best_round);
  begin_phase("training");
  federation::TimingFederation timing(clients.there);
  const Stopwatch training;
  federation::RoundNotes notes = parts.server.run_round(round, timing);
  report.seconds = federation::phases_of_round(timing.take(), training.seconds());
  for (const std::string& warning : notes.warnings) {
    warn(hooks, fmt::format("round {}: {}", round + 1, warning));
  }
  report.loss = notes.loss;
  report.numbers = std::move(notes.numbers);
  report.traffic = clients.all.take();
  if (parts.on_trained) parts.on_trained(round);

  begin_phase("evaluation");
  const Stopwatch evaluation;
  const evaluate::EvaluationConfig& config = parts.config.evaluation;
  const evaluate::Quality quality = evaluate::evaluate_clients(clients.all, round, config.cutoffs);
  report.valid = quality.valid.means();
  report.test = quality.test.means();
  // Without validation rows there is nothing to choose by: the last round counts.
  report.is_best = round == 0 || quality.valid.num_users() == 0.0 ||
                   report.valid.at(config.criterion) > progress.best_score;
  report.seconds["evaluation"] = evaluation.seconds();
  for (const auto& [kind, bytes] : clients.all.take()) report.traffic[kind] = bytes;
  report.absent = take_absentees(parts, clients);
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

bool is_over(const Progress& progress, const RunParts& parts) {
  const StopConfig& stop = parts.config.stop;
  if (progress.next_round == 0) return false;
  if (progress.next_round >= stop.max_rounds || parts.server.is_finished()) return true;
  const Round rounds_since_best = progress.next_round - 1 - progress.best_round;
  return progress.next_round >= stop.min_rounds && rounds_since_best >= stop.patience;
}

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

report::RunResult make_result(const Progress& progress, const RunParts& parts,
                              const RunFolder& folder) {
  const double client_rounds = static_cast<double>(parts.federation.num_clients()) *
                               static_cast<double>(progress.next_round);
  return {.method = parts.config.method,
          .data = parts.dataset.name,
          .seed = parts.config.seed,
          .num_clients = parts.federation.num_clients(),
          .num_users = parts.dataset.num_users(),
          .num_items = parts.dataset.num_items(),
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

void write_inside(const Progress& progress, const RunParts& parts, const RunFolder& folder) {
  const report::Inside inside =
      report::look_inside({.round = progress.best_round,
                           .num_clients = parts.federation.num_clients(),
                           .cutoff = evaluate::headline_cutoff(parts.config.evaluation.cutoffs),
                           .arrays = progress.inside,
                           .dataset = parts.dataset,
                           .train_counts = parts.train_counts});
  write_file_atomically(folder.inside(), report::to_json(inside) + "\n");
}

// The result comes last: a run folder with a result is whole.
report::RunResult finish(const Progress& progress, const RunParts& parts, const RunFolder& folder) {
  if (was_newest_best(progress)) ensure_kept(parts.federation, progress.best_round);
  if (parts.write_model) parts.write_model();
  write_inside(progress, parts, folder);
  report::RunResult result = make_result(progress, parts, folder);
  write_file_atomically(folder.result(), report::to_json(result) + "\n");
  for (const auto& entry : fs::directory_iterator(folder.checkpoints())) fs::remove(entry.path());
  return result;
}
}  // namespace

TrainingOutcome run_rounds(const RunParts& parts, Progress progress, const RunFolder& folder,
                           const TrainingHooks& hooks, const Stopwatch& sitting) {
  Clients clients(parts);
  if (!progress.missed.empty()) {
    ByteReader reader(progress.missed);
    clients.there.restore(reader);
  }
  const std::vector<RoundReport> record = folder.read_rounds();
  folder.keep_rounds_before(progress.next_round);
  const double seconds_before = progress.seconds["total"];
  CheckpointClock<Stopwatch> clock(parts.checkpoint_every);
  const auto save = [&] {
    const Stopwatch watch;
    if (parts.config.dropout > 0) {
      ByteWriter missed;
      clients.there.save(missed);
      progress.missed = missed.finish();
    }
    parts.save(progress);
    write_inside(progress, parts, folder);
    clock.note(watch.seconds());
  };
  while (!is_over(progress, parts)) {
    const RoundOutcome outcome = run_round(progress.next_round, parts, progress, clients, hooks);
    const RoundReport& report = outcome.report;
    add_round(progress, outcome, parts.config.evaluation.criterion);
    progress.seconds["total"] = seconds_before + sitting.seconds();
    folder.append_round(report);
    compare_with_record(report, record, hooks);
    if (hooks.on_round) hooks.on_round(report, parts.config);
    if (is_over(progress, parts)) break;
    const bool is_interrupted = hooks.should_stop && hooks.should_stop();
    if (is_interrupted || clock.is_due(progress.next_round)) save();
    if (is_interrupted) {
      end_sitting(folder.manifest(), progress.next_round);
      return {.was_interrupted = true, .result = make_result(progress, parts, folder)};
    }
  }
  const report::RunResult result = finish(progress, parts, folder);
  end_sitting(folder.manifest(), progress.next_round);
  return {.was_interrupted = false, .result = result};
}
}  // namespace fedhur::experiment
