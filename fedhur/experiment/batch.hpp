// Several trainings side by side, each in a run folder of its own.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/ids.hpp"
#include "fedhur/report/round_report.hpp"

namespace fedhur::experiment {
struct BatchRun {
  ConfigTable settings;
  std::filesystem::path folder;  // made if need be; a finished run is kept, a begun one resumed
  Round pause_after = 0;         // saves and leaves once it has so many rounds; 0: never
};

struct BatchConfig {
  // Runs at a time, and the threads that they share: above 1 the setting `threads` is not used.
  Index parallel = 1;
  bool keeps_models = true;  // without them a finished run takes little space
};

enum class RunState : std::uint8_t { finished, paused, interrupted, failed };
struct BatchOutcome {
  RunState state = RunState::interrupted;  // also if it was not begun
  report::RunResult result;                // of a finished run
  std::string problem;                     // of a failed one
};

// All are optional. They are called one at a time, from any thread. What one throws interrupts all
// runs, which save themselves, and reaches the caller.
struct BatchHooks {
  std::function<void(std::size_t run, const report::RoundReport& report)> on_round;
  std::function<void(std::size_t run, const BatchOutcome& outcome)> on_end;  // not if interrupted
  std::function<bool()> should_stop;  // asked before every run and after every round
};

// One outcome per run, in their order; each has the bits it would have alone. A run that fails
// leaves the others alone; but a FileError, as of a full disk, interrupts all runs and reaches the
// caller. ConfigError, before anything is begun, if a folder holds a run with other settings.
[[nodiscard]] std::vector<BatchOutcome> run_batch(const std::vector<BatchRun>& runs,
                                                  const BatchConfig& config,
                                                  const BatchHooks& hooks);
}  // namespace fedhur::experiment
