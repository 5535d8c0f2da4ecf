// A run that goes on in this process, as its user sees it: progress, log, report.
#pragma once
#include <functional>

#include "apps/log_format.hpp"
#include "fedhur/experiment/round_loop.hpp"
#include "fedhur/transport/network/hub.hpp"

namespace fedhur::apps {
// Calls `start` with hooks that log and show progress, and leave at Ctrl-C; then writes the report
// of a run that has ended. `tell` may be called from other threads meanwhile.
using StartTraining = std::function<experiment::TrainingOutcome(
    const experiment::TrainingHooks& hooks, const transport::NetworkLog& tell)>;
[[nodiscard]] experiment::TrainingOutcome show_training(const experiment::RunFolder& folder,
                                                        const DisplayFlags& flags,
                                                        const StartTraining& start);

// A run's folder before the run has anything to keep in it. Unless the run begins, the folder
// vanishes again, so that the same command can be repeated with its mistake corrected.
class FreshFolder {
 public:
  explicit FreshFolder(const experiment::RunFolder& folder) : folder_(&folder) {}
  ~FreshFolder() { experiment::RunFolder::remove_unbegun(folder_->path()); }
  FreshFolder(const FreshFolder&) = delete;
  FreshFolder& operator=(const FreshFolder&) = delete;

 private:
  const experiment::RunFolder* folder_;
};
}  // namespace fedhur::apps
