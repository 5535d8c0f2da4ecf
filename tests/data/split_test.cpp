#include "fedhur/data/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/data/small_data.hpp"

namespace fedhur::data {
namespace {
using Parts = std::vector<Part>;

// `rows` rows for each user, times descending in file order.
Dataset users_with(const std::vector<Index>& rows) {
  Dataset data;
  data.name = "made up";
  data.has_timestamps = true;
  for (std::size_t user = 0; user < rows.size(); ++user) {
    data.user_names.push_back(std::to_string(user));
    for (Index item = 0; item < rows[user]; ++item) {
      data.interactions.push_back({.user = user_id(static_cast<Index>(user)),
                                   .item = item_id(item),
                                   .timestamp = 1000 - item});
    }
  }
  for (Index item = 0; item < *std::ranges::max_element(rows); ++item) {
    data.item_names.push_back(std::to_string(item));
  }
  return data;
}

std::ptrdiff_t count(const Parts& parts, Part part) { return std::ranges::count(parts, part); }

TEST(Split, AtRandomTakes72And8And20PercentOfAllRows) {
  for (const Index rows : {1, 2, 3, 7, 10, 99, 1000, 1003}) {
    const Parts parts = split(users_with({rows}), {}, Rng(1));
    const auto expected_test =
        std::min<std::ptrdiff_t>(std::lround(0.2 * static_cast<double>(rows)), rows - 1);
    EXPECT_EQ(count(parts, Part::test), expected_test);
    EXPECT_EQ(count(parts, Part::valid),
              std::lround(0.1 * static_cast<double>(rows - expected_test)));
    EXPECT_EQ(parts.size(), static_cast<std::size_t>(rows));
    EXPECT_GE(count(parts, Part::train), 1);
  }
}

TEST(Split, IsTheSameForOneSeedAndOtherForAnother) {
  const Dataset data = users_with({40, 33, 27});
  for (const SplitKind kind : {SplitKind::random, SplitKind::user}) {
    const SplitConfig config{.kind = kind};
    EXPECT_EQ(split(data, config, Rng(5)), split(data, config, Rng(5)));
    EXPECT_NE(split(data, config, Rng(5)), split(data, config, Rng(6)));
  }
}

TEST(Split, WithinUsersRoundsForEachAndKeepsATrainingRow) {
  const Dataset data = users_with({1, 2, 3, 10, 25});
  const Parts parts =
      split(data, {.kind = SplitKind::user, .test_fraction = 0.5, .valid_fraction = 0.5}, Rng(3));
  std::vector<std::array<int, 3>> counts(5);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto user = static_cast<std::size_t>(index_of(data.interactions[i].user));
    ++counts[user][static_cast<std::size_t>(parts[i])];
  }
  const std::vector<std::array<int, 3>> expected = {
      {1, 0, 0}, {1, 0, 1}, {1, 0, 2}, {2, 3, 5}, {6, 6, 13}};
  EXPECT_EQ(counts, expected);
}

TEST(Split, WithinUsersDoesNotDependOnOtherUsers) {
  const SplitConfig config{.kind = SplitKind::user};
  const Parts alone = split(users_with({20}), config, Rng(3));
  const Parts first = split(users_with({20, 30}), config, Rng(3));
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), first.begin()));
}

TEST(Split, LeavesTheLastRowsOutByTime) {
  using enum Part;
  const Dataset data = users_with({1, 2, 4});  // the latest row comes first
  EXPECT_EQ(split(data, {.kind = SplitKind::leave_one_out}, Rng(1)),
            (Parts{train, test, train, test, valid, train, train}));
}

TEST(Split, LeavesTheLastRowsOutInFileOrderWithoutTimes) {
  using enum Part;
  Dataset data = users_with({1, 2, 4});
  data.has_timestamps = false;
  EXPECT_EQ(split(data, {.kind = SplitKind::leave_one_out}, Rng(1)),
            (Parts{train, train, test, train, train, valid, test}));
}

TEST(Split, ByTimeTestsOnTheNewest) {
  using enum Part;
  EXPECT_EQ(split(users_with({5}),
                  {.kind = SplitKind::time, .test_fraction = 0.4, .valid_fraction = 0.34}, Rng(1)),
            (Parts{test, test, valid, train, train}));
}

TEST(Split, TakesTheGivenParts) {
  Dataset data = users_with({2});
  data.parts = {Part::valid, Part::train};
  EXPECT_EQ(split(data, {.kind = SplitKind::given}, Rng(1)), data.parts);
}

TEST(Split, RefusesWhatTheDataOrTheSettingsDoNotAllow) {
  Dataset data = users_with({2});
  data.has_timestamps = false;
  EXPECT_EQ(message_of<ConfigError>([&] { (void)split(data, {.kind = SplitKind::given}, Rng(1)); }),
            "split.kind = given: made up assigns no rows to train, valid and test");
  EXPECT_EQ(message_of<ConfigError>([&] { (void)split(data, {.kind = SplitKind::time}, Rng(1)); }),
            "split.kind = time: made up has no timestamps");
  EXPECT_EQ(message_of<ConfigError>([&] { (void)split(data, {.test_fraction = 1.0}, Rng(1)); }),
            "split.test_fraction = 1.0: expected a number from 0, below 1");
  EXPECT_THROW((void)split(data, {.valid_fraction = -0.1}, Rng(1)), ConfigError);
  EXPECT_THROW((void)split(data, {.valid_fraction = NAN}, Rng(1)), ConfigError);
}
}  // namespace
}  // namespace fedhur::data
