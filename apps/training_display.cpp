#include "apps/training_display.hpp"

#include <fmt/format.h>

#include <mutex>

#include "apps/interrupt.hpp"
#include "apps/progress.hpp"
#include "apps/report.hpp"
#include "apps/run_log.hpp"
#include "fedhur/base/memory.hpp"

namespace fedhur::apps {
namespace {
using experiment::RunFolder;
using experiment::TrainingOutcome;
using transport::Severity;

// What cannot be drawn is no reason to call a run failed that has all its results on disk.
void write_report(const RunFolder& folder, RunLog& log) {
  try {
    std::vector<std::string> warnings;
    log.note(fmt::format("report: {}", write_run_report(folder.path(), warnings).string()));
    for (const std::string& warning : warnings) log.warn(warning);
  } catch (const std::exception& error) {
    log.warn(fmt::format("no report was written: {}", error.what()));
  }
}

LogFields fields_of(const report::RoundReport& report) {
  const auto metric = [](const report::Metrics& metrics) {
    const auto found = metrics.find(evaluate::headline_metric(metrics, "ndcg"));
    return found == metrics.end() ? LogFields() : LogFields(found->second);
  };
  return {{"event", "round"},
          {"round", report.round + 1},
          {"loss", report.loss},
          {"valid_ndcg", metric(report.valid)},
          {"test_ndcg", metric(report.test)},
          {"seconds", round_seconds(report)},
          {"best", report.is_best},
          {"absent", report.absent}};
}
}  // namespace

TrainingOutcome show_training(const RunFolder& folder, const DisplayFlags& flags,
                              const StartTraining& start) {
  const bool is_for_programs = flags.log_format == LogFormat::json;
  RunLog log(folder.log(), flags.is_quiet, flags.log_format);
  ProgressDisplay display(choose_progress_style(flags));
  std::mutex mutex;  // of both
  for (const report::RoundReport& report : folder.read_rounds()) {
    if (report.is_best) display.set_best_round(report.round);
  }
  keep_freed_memory();
  is_for_programs ? note_interrupts_silently() : note_interrupts();
  const transport::NetworkLog tell = [&](Severity severity, const std::string& message) {
    const std::lock_guard lock(mutex);
    if (severity == Severity::detail) return log.note(message);
    display.clear();
    severity == Severity::warning ? log.warn(message) : log.info(message);
  };
  experiment::TrainingHooks hooks;
  hooks.on_info = [&](const std::string& message) { tell(Severity::info, message); };
  hooks.on_warning = [&](const std::string& message) { tell(Severity::warning, message); };
  hooks.on_phase = [&](Round round, const std::string& phase) {
    const std::lock_guard lock(mutex);
    display.begin_phase(round, phase);
  };
  hooks.on_round = [&](const report::RoundReport& report,
                       const experiment::ExperimentConfig& config) {
    const std::lock_guard lock(mutex);
    // People see the round in the display.
    is_for_programs ? log.info(format_round(report), fields_of(report))
                    : log.note(format_round(report));
    display.end_round(report, config);
  };
  hooks.should_stop = was_interrupted;
  try {
    TrainingOutcome outcome = start(hooks, tell);
    display.clear();
    if (outcome.was_interrupted) {
      // A server that is stopped in a round has no result to count them by.
      const std::size_t num_rounds = folder.read_rounds().size();
      log.note(fmt::format("interrupted after round {}", num_rounds),
               {{"event", "interrupted"}, {"round", num_rounds}});
    } else {
      write_report(folder, log);
    }
    return outcome;
  } catch (const std::exception& error) {
    log.error(error.what());
    throw;
  }
}
}  // namespace fedhur::apps
