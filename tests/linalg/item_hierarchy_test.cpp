#include "fedhur/linalg/item_hierarchy.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "fedhur/base/error.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::linalg {
namespace {
MatrixOf<std::int32_t> table(Index rows, Index cols, const std::vector<std::int32_t>& values) {
  return Eigen::Map<const MatrixOf<std::int32_t>>(values.data(), rows, cols);
}

void expect_same(const ItemHierarchy& a, const ItemHierarchy& b) {
  EXPECT_EQ(a.num_items, b.num_items);
  ASSERT_EQ(a.scopes.size(), b.scopes.size());
  for (std::size_t s = 0; s < a.scopes.size(); ++s) {
    EXPECT_EQ(a.scopes[s].level, b.scopes[s].level) << s;
    EXPECT_EQ(a.scopes[s].parent, b.scopes[s].parent) << s;
    EXPECT_EQ(a.scopes[s].member, b.scopes[s].member) << s;
    EXPECT_EQ(a.scopes[s].items, b.scopes[s].items) << s;
    EXPECT_EQ(a.scopes[s].offsets, b.scopes[s].offsets) << s;
  }
}

TEST(ItemHierarchy, NamesScopesLevelByLevel) {
  const ItemHierarchy hierarchy =
      from_table({.members = table(5, 1, {1, 0, 1, 1, 0}), .ends_with_items = true});
  ASSERT_EQ(hierarchy.num_scopes(), 3);
  EXPECT_EQ(hierarchy.num_levels(), 2);
  EXPECT_EQ(hierarchy.num_members(), 2 + 2 + 3);
  EXPECT_EQ(hierarchy.num_packed(), 3 + 3 + 6);
  EXPECT_EQ(hierarchy.scopes[0].items, (std::vector<Index>{1, 4, 0, 2, 3}));
  EXPECT_EQ(hierarchy.scopes[0].offsets, (std::vector<Index>{0, 2, 5}));
  EXPECT_FALSE(hierarchy.scopes[0].is_of_items());
  EXPECT_EQ(hierarchy.scopes[2].items, (std::vector<Index>{0, 2, 3}));
  EXPECT_EQ(hierarchy.scopes[2].parent, 0);
  EXPECT_EQ(hierarchy.scopes[2].member, 1);
  EXPECT_TRUE(hierarchy.scopes[2].is_of_items());
}

TEST(ItemHierarchy, OfItemsIsOneScope) {
  for (const Index num_items : {1, 6}) {
    const ItemHierarchy hierarchy = hierarchy_of_items(num_items);
    ASSERT_EQ(hierarchy.num_scopes(), 1);
    EXPECT_EQ(hierarchy.scopes[0].num_members(), num_items);
    EXPECT_TRUE(hierarchy.scopes[0].is_of_items());
    expect_same(from_table(to_table(hierarchy)), hierarchy);
  }
}

TEST(ItemHierarchy, ComesBackFromItsTable) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (const Index num_items : {1, 2, 5, 19}) {
      for (const Index num_levels : {1, 2, 4}) {
        for (const bool ends_with_items : {false, true}) {
          const ItemHierarchy hierarchy =
              tests::random_hierarchy(num_items, num_levels, ends_with_items, seed);
          expect_same(from_table(to_table(hierarchy)), hierarchy);
        }
      }
    }
  }
}

TEST(ItemHierarchy, ComesBackWhereSingleItemsAreNotInOrder) {
  const ItemHierarchy hierarchy =
      from_table({.members = table(3, 1, {2, 0, 1}), .ends_with_items = false});
  expect_same(from_table(to_table(hierarchy)), hierarchy);
}

TEST(ItemHierarchy, IsRefusedWhereTheTableDescribesNone) {
  const auto refuses = [](MatrixOf<std::int32_t> members, bool ends_with_items) {
    EXPECT_THROW(
        (void)from_table({.members = std::move(members), .ends_with_items = ends_with_items}),
        ProtocolError);
  };
  refuses(table(0, 0, {}), true);
  refuses(MatrixOf<std::int32_t>(0, 2), false);
  refuses(MatrixOf<std::int32_t>(3, 0), false);  // no level at all
  refuses(table(3, 1, {0, -1, 1}), true);
  refuses(table(3, 1, {0, 3, 1}), true);  // more groups than items
  refuses(table(3, 1, {0, 2, 2}), true);  // no item in group 1
  refuses(table(3, 1, {1, 1, 1}), false);
  refuses(table(3, 1, {0, 0, INT32_MAX}), true);
  refuses(table(3, 1, {0, 0, INT32_MIN}), true);
  refuses(table(4, 2, {0, 0, 0, 1, 1, 1, 1, 1}), true);  // level 2: no item in group 0 of group 1
  refuses(table(4, 2, {0, 0, 0, 1, 1, 0, 1, 2}), true);
}

TEST(GroupMeans, AreThoseOfLoops) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Index num_items : {1, 2, 9, 26}) {
      for (const Index num_levels : {1, 2, 3, 4}) {
        for (const bool ends_with_items : {false, true}) {
          const ItemHierarchy hierarchy =
              tests::random_hierarchy(num_items, num_levels, ends_with_items, seed);
          const Matrix E = tests::random_matrix(num_items, 5, seed);
          const std::vector<Matrix> all = average_all_groups(E, hierarchy);
          ASSERT_EQ(all.size(), hierarchy.scopes.size());
          for (std::size_t s = 0; s < all.size(); ++s) {
            const Scope& scope = hierarchy.scopes[s];
            const Matrix one = average_groups(E, scope);
            tests::expect_close(one, tests::dense_group_means(E, scope), 1e-6);
            if (scope.is_of_items()) {
              EXPECT_EQ(all[s].size(), 0);
            } else {
              tests::expect_close(all[s], one, 1e-6);
            }
          }
        }
      }
    }
  }
}

TEST(GroupMeans, OfZerosAreZeros) {
  const ItemHierarchy hierarchy = tests::random_hierarchy(9, 3, true, 2);
  for (const Scope& scope : hierarchy.scopes) {
    EXPECT_TRUE(average_groups(Matrix::Zero(9, 2), scope).isZero(0.0F));
  }
}
}  // namespace
}  // namespace fedhur::linalg
