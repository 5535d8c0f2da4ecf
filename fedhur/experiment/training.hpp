// A whole run: prepare, train round by round, stop, keep the best, write the run folder.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/round_dump.hpp"
#include "fedhur/experiment/run_folder.hpp"
#include "fedhur/report/round_report.hpp"

namespace fedhur::experiment {
// How a run talks to whoever started it. All are optional and called from the thread that trains.
struct TrainingHooks {
  std::function<void(const std::string& message)> on_info;  // "ml-100k: 943 users, ..."
  std::function<void(const std::string& message)> on_warning;
  std::function<void(Round round, const std::string& phase)> on_phase;  // a phase begins
  std::function<void(const report::RoundReport& report, const ExperimentConfig& config)> on_round;
  std::function<bool()> should_stop;  // asked after every round: save and leave
  bool keeps_model = true;            // false leaves model/ out of the run folder
};

struct TrainingOutcome {
  bool was_interrupted = false;  // by should_stop: no result yet, the run can be resumed
  report::RunResult result;
};

// A new run in `folder`, one round of which may be dumped.
[[nodiscard]] TrainingOutcome train(ConfigTable& table, const RunFolder& folder,
                                    const TrainingHooks& hooks,
                                    const std::optional<DumpConfig>& dump = {});
// Goes on where the run in `folder` stopped, whatever stopped it. threads = 0: as configured.
[[nodiscard]] TrainingOutcome resume(const RunFolder& folder, Index threads,
                                     const TrainingHooks& hooks);
}  // namespace fedhur::experiment
