#include "fedhur/server/item_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/support.hpp"

namespace fedhur::server {
namespace {
linalg::ItemHierarchy build(const Matrix& embeddings, const std::vector<Index>& branching,
                            bool ends_with_items, Index threads = 2) {
  const Executor executor(threads);
  return build_item_hierarchy(
      embeddings, {.branching = branching, .ends_with_items = ends_with_items, .leaf_items = 0},
      Rng(5), executor);
}

TEST(BuildItemHierarchy, DividesEveryGroupIntoAtMostTheBranching) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const Index num_items : {1, 2, 5, 40}) {
      const std::vector<Index> branching = {3, 2};
      const auto hierarchy = build(tests::random_matrix(num_items, 4, seed), branching, true);
      EXPECT_EQ(hierarchy.num_items, num_items);
      EXPECT_EQ(hierarchy.num_levels(), 3);
      std::vector<Index> seen(3, 0);
      for (const linalg::Scope& scope : hierarchy.scopes) {
        const auto size = static_cast<Index>(scope.items.size());
        seen[static_cast<std::size_t>(scope.level)] += size;
        EXPECT_EQ(scope.num_members(),
                  scope.level == 2
                      ? size
                      : std::min(size, branching[static_cast<std::size_t>(scope.level)]));
        for (Index b = 0; b < scope.num_members(); ++b) {
          const auto items = scope.member_items(b);
          EXPECT_FALSE(items.empty());
          EXPECT_TRUE(std::is_sorted(items.begin(), items.end()));
        }
      }
      EXPECT_EQ(seen, std::vector<Index>(3, num_items));  // every level holds every item
    }
  }
}

TEST(BuildItemHierarchy, OfNoGroupsIsTheItems) {
  const auto hierarchy = build(tests::random_matrix(6, 2, 1), {}, true);
  ASSERT_EQ(hierarchy.num_scopes(), 1);
  EXPECT_TRUE(hierarchy.scopes[0].is_of_items());
}

TEST(BuildItemHierarchy, LooksAtDirectionsOnly) {
  const Matrix embeddings = tests::random_matrix(30, 3, 1);
  Matrix scaled = embeddings;
  for (Index item = 0; item < 30; ++item) scaled.row(item) *= item % 2 == 0 ? 64.0F : 0.125F;
  const auto a = build(embeddings, {4, 2}, false);
  const auto b = build(scaled, {4, 2}, false);
  ASSERT_EQ(a.num_scopes(), b.num_scopes());
  for (std::size_t s = 0; s < a.scopes.size(); ++s) EXPECT_EQ(a.scopes[s].items, b.scopes[s].items);
}

TEST(BuildItemHierarchy, TakesZeroRowsAndCopies) {
  Matrix embeddings = tests::random_matrix(20, 3, 1);
  embeddings.topRows(12).setZero();
  embeddings.row(15) = embeddings.row(16);
  for (const Matrix& rows :
       {embeddings, Matrix(Matrix::Zero(20, 3)), Matrix(Matrix::Ones(20, 3))}) {
    const auto hierarchy = build(rows, {4, 3}, true);
    EXPECT_EQ(hierarchy.num_items, 20);
    EXPECT_EQ(hierarchy.scopes[0].num_members(), 4);
  }
}

// 900 items that k-means sees as one among twelve that stand apart, and the groups that become of
// them. What differs most among the 900 is odd from even.
std::vector<std::vector<Index>> group_alike(float difference, Index largest_group,
                                            Index leaf_items) {
  Matrix embeddings = tests::random_matrix(912, 8, 4);
  embeddings.topRows(900) *= difference;
  embeddings.topRows(900).col(0).array() += 1.0F;
  for (Index item = 0; item < 900; item += 2) embeddings(item, 1) += 20.0F * difference;
  const Executor executor(2);
  const auto hierarchy = build_item_hierarchy(embeddings,
                                              {.branching = {10},
                                               .ends_with_items = false,
                                               .leaf_items = leaf_items,
                                               .largest_group = largest_group},
                                              Rng(5), executor);
  const linalg::Scope& scope = hierarchy.scopes.front();
  std::vector<std::vector<Index>> groups;
  for (Index b = 0; b < scope.num_members(); ++b) {
    const auto items = scope.member_items(b);
    groups.emplace_back(items.begin(), items.end());
  }
  return groups;
}

TEST(BuildItemHierarchy, CutsGiantGroupsAlone) {
  for (const float difference : {1e-3F, 0.0F}) {
    const auto whole = group_alike(difference, 0, 100);
    ASSERT_EQ(whole.size(), 10U);
    const auto giant = std::ranges::max_element(whole, {}, [](const auto& g) { return g.size(); });
    ASSERT_EQ(giant->size(), 900U);

    EXPECT_EQ(group_alike(difference, 900, 100), whole);
    EXPECT_EQ(group_alike(difference, 899, 0).size(), 11U);  // halves are small enough
    const auto parts = group_alike(difference, 899, 100);
    ASSERT_EQ(parts.size(), 9U + 16U);
    std::vector<Index> cut;
    for (const auto& group : parts) {
      EXPECT_TRUE(std::ranges::is_sorted(group));
      if (group.front() >= 900) {
        EXPECT_NE(std::ranges::find(whole, group), whole.end()) << "a small group has changed";
        continue;
      }
      EXPECT_GE(group.size(), 56U);  // 900 in sixteen equal parts
      EXPECT_LE(group.size(), 57U);
      const auto is_like_first = [&](Index item) { return item % 2 == group.front() % 2; };
      EXPECT_TRUE(difference == 0.0F || std::ranges::all_of(group, is_like_first));
      cut.insert(cut.end(), group.begin(), group.end());
    }
    std::ranges::sort(cut);
    EXPECT_EQ(cut, *giant);
  }
}

TEST(BuildItemHierarchy, IsTheSameForAnyNumberOfThreads) {
  const Matrix embeddings = tests::random_matrix(70, 4, 2);
  const auto one = build(embeddings, {5, 3}, true, 1);
  const auto three = build(embeddings, {5, 3}, true, 3);
  ASSERT_EQ(one.num_scopes(), three.num_scopes());
  for (std::size_t s = 0; s < one.scopes.size(); ++s) {
    EXPECT_EQ(one.scopes[s].items, three.scopes[s].items);
    EXPECT_EQ(one.scopes[s].offsets, three.scopes[s].offsets);
  }
}

TEST(AdaptBranching, GrowsOnLargeCataloguesAlone) {
  EXPECT_EQ(adapt_branching({}, 1682), (std::vector<Index>{8, 4}));
  const std::vector<Index> large = adapt_branching({}, 13775);
  const double leaf = 13775.0 / static_cast<double>(large[0] * large[1]);
  EXPECT_NEAR(leaf, 53.0, 5.0);
  EXPECT_EQ(adapt_branching({.leaf_items = 0}, 13775), (std::vector<Index>{8, 4}));
  EXPECT_TRUE(adapt_branching({.branching = {}}, 13775).empty());
}
}  // namespace
}  // namespace fedhur::server
