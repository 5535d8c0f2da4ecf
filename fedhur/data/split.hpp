// Which interactions train, validate and test.
#pragma once
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/data/interactions.hpp"

namespace fedhur::data {
enum class SplitKind : std::uint8_t {
  given,          // as the file says (format `split`)
  random,         // over all interactions
  user,           // at random within each user
  leave_one_out,  // per user the last row tests, the one before validates
  time,           // per user by time: the oldest train, the newest test
};
constexpr auto names_of(SplitKind) {
  return std::array{"given", "random", "user", "leave-one-out", "time"};
}

struct SplitConfig {
  SplitKind kind = SplitKind::random;
  double test_fraction = 0.2;
  double valid_fraction = 0.1;  // of what is left then
};

void declare_settings(Settings& settings, SplitConfig& config);

// One part per interaction. Counts are rounded to the nearest (random: over all rows; user, time:
// within each user, where a user keeps at least one training row). leave_one_out: users with one
// row train only, with two rows have no validation; without timestamps file order counts.
// ConfigError for `given` without parts in the data and for `time` without timestamps.
[[nodiscard]] std::vector<Part> split(const Dataset& dataset, const SplitConfig& config,
                                      const Rng& rng);
}  // namespace fedhur::data
