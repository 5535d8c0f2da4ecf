#include "fedhur/client/co_occurrences.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/support.hpp"

namespace fedhur::client {
namespace {
// The upper triangle, row by row.
std::vector<std::int64_t> triangle(const SparseMatrix<std::int64_t>& counts) {
  MatrixOf<std::int64_t> dense = MatrixOf<std::int64_t>::Zero(counts.rows(), counts.cols());
  for (std::size_t e = 0; e < counts.num_entries(); ++e) {
    dense(counts.row_of(e), counts.col_of(e)) = counts.values()[e];
  }
  EXPECT_TRUE(MatrixOf<std::int64_t>(dense.triangularView<Eigen::StrictlyLower>()).isZero());
  std::vector<std::int64_t> entries;
  for (Index i = 0; i < dense.rows(); ++i) {
    for (Index j = i; j < dense.cols(); ++j) entries.push_back(dense(i, j));
  }
  return entries;
}

std::vector<std::int64_t> counted(const std::vector<std::vector<int>>& users) {
  return triangle(count_co_occurrences(tests::user_items(users), 5, 0.5));
}

TEST(CoOccurrences, AreThoseOfTheWorkedExample) {
  EXPECT_EQ(counted({{0, 1, 2}, {0, 1}}),
            (std::vector<std::int64_t>{1346851, 1346851, 605396, 0, 0, 1346851, 605396, 0, 0,
                                       605396, 0, 0, 0, 0, 0}));
  EXPECT_EQ(counted({{1, 2, 3, 4}}),
            (std::vector<std::int64_t>{0, 0, 0, 0, 0, 524288, 524288, 524288, 524288, 524288,
                                       524288, 524288, 524288, 524288, 524288}));
  EXPECT_EQ(counted({{0, 3}, {2, 3, 4}}),
            (std::vector<std::int64_t>{741455, 0, 0, 741455, 0, 0, 0, 0, 0, 605396, 605396, 605396,
                                       1346851, 605396, 605396}));
}

TEST(CoOccurrences, OfUsersWithoutItemsAreNone) {
  EXPECT_EQ(count_co_occurrences(tests::user_items({{}, {}}), 5, 0.5).num_entries(), 0U);
  EXPECT_EQ(count_co_occurrences(data::UserItems(), 5, 0.5).num_entries(), 0U);
  EXPECT_EQ(counted({{}, {4}, {}}), counted({{4}}));
}

TEST(CoOccurrences, CountUsersByTheirActivity) {
  EXPECT_EQ(user_weight(0, 0.5), 0);
  EXPECT_EQ(user_weight(1, 0.5), kWholeUser);
  EXPECT_EQ(user_weight(100, 0.0), kWholeUser);
  EXPECT_EQ(user_weight(4, 1.0), kWholeUser / 4);
  EXPECT_EQ(user_weight(3, 1.0), 349525);  // 349525.33
  EXPECT_EQ(user_weight(6, 1.0), 174763);  // 174762.67
}

TEST(CoOccurrences, OfSomeItemsAreOfThoseDrawn) {
  const auto users = tests::user_items({{1, 3, 5, 7, 9, 11}, {2, 4}, {}});
  const auto all = draw_items(users, 0, client_id(3), Rng(1));
  EXPECT_EQ(all.size(), users.size());
  std::vector<int> times_drawn(12, 0);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto drawn = draw_items(users, 3, client_id(3), Rng(seed));
    EXPECT_EQ(drawn.of(0).size(), 3U);
    EXPECT_EQ(drawn.of(1).size(), 2U);
    EXPECT_EQ(drawn.of(2).size(), 0U);
    for (const ItemId item : drawn.of(0)) {
      EXPECT_TRUE(users.contains(0, item));
      ++times_drawn[data::slot(item)];
    }
  }
  for (const int item : {1, 3, 5, 7, 9, 11}) {
    EXPECT_NEAR(times_drawn[static_cast<std::size_t>(item)], 150, 40) << item;
  }
  const auto drawn_by = [&](Index client) {
    const auto drawn = draw_items(users, 3, client_id(client), Rng(5));
    return std::vector<ItemId>(drawn.of(0).begin(), drawn.of(0).end());
  };
  EXPECT_EQ(drawn_by(1), drawn_by(1));
  EXPECT_NE(drawn_by(1), drawn_by(2));
}
}  // namespace
}  // namespace fedhur::client
