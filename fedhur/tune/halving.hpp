// Successive halving: many trials for a few rounds, the better ones for more.
#pragma once
#include <vector>

#include "fedhur/base/ids.hpp"
#include "fedhur/base/index.hpp"

namespace fedhur::tune {
struct HalvingConfig {
  Round first_rounds = 5;  // of all trials
  Index factor = 3;        // one in so many goes on, with so many times the rounds
};
struct Rung {
  std::size_t num_trials = 0;
  Round num_rounds = 0;  // of each trial, counted from its beginning; 0: to its end
};

// The last rung goes to the end; it has at most `factor` trials, unless max_rounds comes before.
[[nodiscard]] std::vector<Rung> plan_rungs(std::size_t num_trials, const HalvingConfig& config,
                                           Round max_rounds);
}  // namespace fedhur::tune
