#include "fedhur/tune/halving.hpp"

#include "fedhur/base/error.hpp"

namespace fedhur::tune {
std::vector<Rung> plan_rungs(std::size_t num_trials, const HalvingConfig& config,
                             Round max_rounds) {
  expects(config.first_rounds >= 1 && config.factor >= 2, "a rung keeps fewer than it has");
  const auto factor = static_cast<std::size_t>(config.factor);
  std::vector<Rung> rungs;
  Round num_rounds = config.first_rounds;
  while (num_trials > factor && num_rounds < max_rounds) {
    rungs.push_back({.num_trials = num_trials, .num_rounds = num_rounds});
    num_trials /= factor;
    num_rounds = num_rounds > max_rounds / config.factor ? max_rounds : num_rounds * config.factor;
  }
  rungs.push_back({.num_trials = num_trials, .num_rounds = 0});
  return rungs;
}
}  // namespace fedhur::tune
