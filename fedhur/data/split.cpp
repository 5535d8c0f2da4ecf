#include "fedhur/data/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fedhur/base/error.hpp"
#include "fedhur/base/settings.hpp"

namespace fedhur::data {
namespace {
using Rows = std::vector<std::size_t>;

struct Counts {
  std::size_t test;
  std::size_t valid;
};

std::size_t rounded_share(std::size_t count, double fraction) {
  return static_cast<std::size_t>(std::llround(static_cast<double>(count) * fraction));
}

// One row at least is left for training.
Counts count_parts(std::size_t num_rows, const SplitConfig& config) {
  if (num_rows == 0) return {.test = 0, .valid = 0};
  const std::size_t test = std::min(rounded_share(num_rows, config.test_fraction), num_rows - 1);
  const std::size_t rest = num_rows - test;
  return {.test = test, .valid = std::min(rounded_share(rest, config.valid_fraction), rest - 1)};
}

// The last rows test, those before validate.
void mark_tail(const Rows& rows, Counts counts, std::vector<Part>& parts) {
  const std::size_t first_test = rows.size() - counts.test;
  for (std::size_t i = first_test; i < rows.size(); ++i) parts[rows[i]] = Part::test;
  for (std::size_t i = first_test - counts.valid; i < first_test; ++i) parts[rows[i]] = Part::valid;
}

std::vector<Rows> rows_of_users(const Dataset& dataset) {
  std::vector<Rows> rows(dataset.user_names.size());
  for (std::size_t i = 0; i < dataset.interactions.size(); ++i) {
    rows[slot(dataset.interactions[i].user)].push_back(i);
  }
  return rows;
}

void sort_by_time(const Dataset& dataset, Rows& rows) {  // of equal times the file order counts
  std::ranges::stable_sort(rows, {},
                           [&](std::size_t i) { return dataset.interactions[i].timestamp; });
}

Counts leave_one(std::size_t num_rows) {
  return {.test = num_rows >= 2 ? 1U : 0U, .valid = num_rows >= 3 ? 1U : 0U};
}

std::vector<Part> split_over_all(const Dataset& dataset, const SplitConfig& config, Rng rng) {
  Rows rows(dataset.interactions.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  rng.shuffle(std::span(rows));
  std::vector<Part> parts(rows.size(), Part::train);
  mark_tail(rows, count_parts(rows.size(), config), parts);
  return parts;
}

std::vector<Part> split_within_users(const Dataset& dataset, const SplitConfig& config,
                                     const Rng& rng) {
  std::vector<Part> parts(dataset.interactions.size(), Part::train);
  auto rows = rows_of_users(dataset);
  for (std::size_t user = 0; user < rows.size(); ++user) {
    if (config.kind == SplitKind::user) {
      rng.stream(Draw::split, user).shuffle(std::span(rows[user]));
    } else if (dataset.has_timestamps) {
      sort_by_time(dataset, rows[user]);
    }
    const std::size_t count = rows[user].size();
    const bool leaves_one = config.kind == SplitKind::leave_one_out;
    mark_tail(rows[user], leaves_one ? leave_one(count) : count_parts(count, config), parts);
  }
  return parts;
}
}  // namespace

void declare_settings(Settings& settings, SplitConfig& config) {
  settings.add("split.kind", config.kind,
               "`random` over all rows, by `user`, `leave-one-out` (of every user the last row "
               "tests, the one before validates), by `time` (of every user the newest rows test); "
               "`given` as the file says, the default if it does");
  settings.add("split.test_fraction", config.test_fraction, from_below(0, 1), "of all rows");
  settings.add("split.valid_fraction", config.valid_fraction, from_below(0, 1),
               "of what is left then, so 72/8/20 in all");
}

std::vector<Part> split(const Dataset& dataset, const SplitConfig& config, const Rng& rng) {
  validate(config);
  switch (config.kind) {
    case SplitKind::given:
      if (dataset.parts.empty()) {
        throw ConfigError(fmt::format(
            "split.kind = given: {} assigns no rows to train, valid and test", dataset.name));
      }
      return dataset.parts;
    case SplitKind::random:
      return split_over_all(dataset, config, rng.stream(Draw::split));
    case SplitKind::time:
      if (!dataset.has_timestamps) {
        throw ConfigError(fmt::format("split.kind = time: {} has no timestamps", dataset.name));
      }
      [[fallthrough]];
    case SplitKind::user:
    case SplitKind::leave_one_out:
      return split_within_users(dataset, config, rng);
  }
  throw std::logic_error("an unknown kind of split");
}
}  // namespace fedhur::data
