// A whole simulated run: prepare, train round by round, write the run folder.
#pragma once
#include <optional>

#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/round_dump.hpp"
#include "fedhur/experiment/round_loop.hpp"
#include "fedhur/experiment/run_folder.hpp"

namespace fedhur::experiment {
// A new run in `folder`, one round of which may be dumped. It can be repeated from anywhere if its
// paths are absolute.
[[nodiscard]] TrainingOutcome train(const ResolvedConfig& resolved, const RunFolder& folder,
                                    const TrainingHooks& hooks,
                                    const std::optional<DumpConfig>& dump = {});
// Goes on where the run in `folder` stopped, whatever stopped it. threads = 0: as configured.
[[nodiscard]] TrainingOutcome resume(const RunFolder& folder, Index threads,
                                     const TrainingHooks& hooks);
}  // namespace fedhur::experiment
