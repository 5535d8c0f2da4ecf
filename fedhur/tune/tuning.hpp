// A search from its first training to its best settings.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "fedhur/tune/plan.hpp"
#include "fedhur/tune/tuning_folder.hpp"

namespace fedhur::tune {
// How far a rung is, when one of its trials has ended.
struct RungProgress {
  std::size_t rung = 0;  // index into the plan's rungs
  std::size_t num_ended = 0;
  std::size_t num_trials = 0;
  std::optional<double> seconds_left;  // of this rung; nothing before anything was trained
  std::optional<std::size_t> best;     // number of the best trial so far
  double best_score = 0.0;
};

// All are optional, and called one at a time from any thread.
struct TuneHooks {
  // A trial has ended in a rung; not if it had done so in an earlier sitting.
  std::function<void(const Trial& trial, const RungProgress& progress)> on_trial;
  std::function<bool()> should_stop;  // asked after every round of every run: save and leave
};

struct TuneOutcome {
  bool was_interrupted = false;  // by should_stop, before all trials had ended
  bool is_out_of_time = false;   // likewise
  std::vector<Trial> trials;     // in the order of the draw
};

// Trains what the folder does not hold yet; the same search may be run again with another budget,
// or after any interruption. Writes trials.jsonl, best.toml, tuned.toml and summary.md after
// every trial that was trained.
// Failed trials are in the outcome, and tried again the next time.
[[nodiscard]] TuneOutcome run_tuning(const TunePlan& plan, const TuningFolder& folder,
                                     const TuneHooks& hooks);
}  // namespace fedhur::tune
