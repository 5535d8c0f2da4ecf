// The operator against the n x n matrix it stands for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedhur/linalg/item_filter.hpp"
#include "fedhur/linalg/personalized_filter.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::linalg {
namespace {
using tests::Dense;
using tests::expect_close;
using tests::gram;
using tests::product;
using tests::widen;

struct Shape {
  Index num_items, num_levels;
  bool ends_with_items;
  Index rank;
};
// One item at all, one level, uneven groups, a basis as wide as the items.
const std::vector<Shape> kShapes = {{1, 1, true, 1},   {1, 3, true, 1},  {2, 2, false, 1},
                                    {7, 1, false, 3},  {7, 1, true, 7},  {11, 2, true, 4},
                                    {13, 2, false, 2}, {23, 3, true, 5}, {31, 4, false, 6}};

template <class Check>
void for_random_filters(const Check& check) {
  for (const Shape& shape : kShapes) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(
          fmt::format("{} items, {} levels, seed {}", shape.num_items, shape.num_levels, seed));
      const ItemHierarchy hierarchy =
          tests::random_hierarchy(shape.num_items, shape.num_levels, shape.ends_with_items, seed);
      check(tests::random_filter(hierarchy, shape.rank, 0.5F, seed), seed);
      check(tests::random_filter(shape.num_items, shape.rank, seed), seed);
    }
  }
}

TEST(ItemFilter, AppliesTheDenseMatrixThatItStandsFor) {
  for_random_filters([](const ItemFilter& filter, std::uint64_t seed) {
    const Dense dense = tests::dense_filter(filter);
    expect_close(filter.to_dense(), dense);
    for (const Index cols : {1, 4}) {
      const Matrix X = tests::random_matrix(filter.num_items(), cols, seed);
      expect_close(filter.apply(X), product(dense, widen(X)), 1e-4);
    }
  });
}

TEST(ItemFilter, AppliesItsBlocksAlone) {
  for_random_filters([](const ItemFilter& filter, std::uint64_t seed) {
    Dense blocks = Dense::Zero(filter.num_items(), filter.num_items());
    for (std::size_t s = 0; s < filter.blocks.size(); ++s) {
      blocks += tests::dense_map(filter.hierarchy->scopes[s], filter.blocks[s], filter.num_items());
    }
    const Matrix X = tests::random_matrix(filter.num_items(), 3, seed);
    expect_close(filter.apply_blocks(X), product(blocks, widen(X)), 1e-4);
  });
}

TEST(ItemFilter, HasTheNormOfTheDenseMatrix) {
  for_random_filters([](const ItemFilter& filter, std::uint64_t) {
    const double expected = tests::dense_filter(filter).squaredNorm();
    EXPECT_NEAR(filter.squared_norm(), expected, 1e-5 * (1.0 + expected));
  });
}

TEST(ItemFilter, HasTheTraceOfTheDenseMatrix) {
  for_random_filters([](const ItemFilter& filter, std::uint64_t) {
    const double expected = tests::dense_filter(filter).trace();
    EXPECT_NEAR(filter.trace(), expected, 1e-5 * (1.0 + std::abs(expected)));
  });
}

TEST(ItemFilter, IsScaledToATraceAsTheDenseMatrix) {
  int num_scaled = 0;
  for_random_filters([&](const ItemFilter& filter, std::uint64_t) {
    const Dense dense = tests::dense_filter(filter);
    const ItemFilter scaled = scale_to_trace(filter, 2.5);
    if (dense.trace() <= 1e-3) return;  // below
    ++num_scaled;
    expect_close(scaled.to_dense(), Dense(dense * (2.5 / dense.trace())), 1e-4);
    EXPECT_NEAR(scaled.trace(), 2.5, 1e-4);
    EXPECT_NEAR(scaled.squared_norm(), tests::dense_filter(scaled).squaredNorm(),
                1e-4 * (1.0 + scaled.squared_norm()));
  });
  EXPECT_GT(num_scaled, 50);
}

TEST(ItemFilter, StaysAsItIsWhereNoScaleGivesTheTrace) {
  ItemFilter filter = tests::random_filter(tests::random_hierarchy(9, 1, true, 1), 2, 0.0F, 1);
  const Dense before = tests::dense_filter(filter);
  EXPECT_EQ(tests::dense_filter(scale_to_trace(filter, 0.0)), before);
  EXPECT_EQ(tests::dense_filter(scale_to_trace(filter, -1.0)), before);
  filter.blocks[0] = -Matrix::Identity(9, 9) * static_cast<Real>(filter.trace());
  EXPECT_LT(filter.trace(), 0.0);
  EXPECT_EQ(tests::dense_filter(scale_to_trace(filter, 1.0)), tests::dense_filter(filter));
}

TEST(ItemFilter, IsAsFarFromAFactorAsTheDenseMatrix) {
  for_random_filters([](const ItemFilter& filter, std::uint64_t seed) {
    for (const Index dim : {1, 3, 9}) {
      const Matrix E = tests::random_matrix(filter.num_items(), dim, seed);
      const double expected = tests::distance(gram(widen(E)), tests::dense_filter(filter));
      EXPECT_NEAR(distance(E, filter), expected, 1e-3 * (1.0 + expected));
    }
    const Matrix zero = Matrix::Zero(filter.num_items(), 2);
    EXPECT_NEAR(distance(zero, filter), tests::dense_filter(filter).norm(), 1e-4);
  });
}

TEST(ItemFilter, IsNeverAtANegativeDistanceFromItsOwnFactor) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ItemFilter filter = tests::random_filter(12, 4, seed);
    const Matrix T = best_factor(filter, Matrix::Zero(12, 4), 1).to_matrix();
    const double left = distance(T, filter);
    EXPECT_GE(left, 0.0);  // and a number: the root of what rounding makes negative is none
    EXPECT_LE(left, 1e-2);
  }
}

TEST(ItemFilter, IsTheSquareOfAFactorWithOrthogonalColumns) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Matrix factor = tests::random_basis(9, 4, seed);
    factor.col(0) *= 3.0F;
    factor.col(1) *= 0.5F;
    factor.col(3).setZero();
    const ItemFilter filter = filter_of_factor(factor);
    EXPECT_EQ(filter.values(3), 0.0);
    expect_close(filter.to_dense(), gram(widen(factor)));
  }
}

// Positive blocks: there the iteration finds the best factor whatever the start.
ItemFilter positive_filter(const ItemHierarchy& hierarchy, Index rank, std::uint64_t seed) {
  ItemFilter filter = tests::random_filter(hierarchy, rank, 0.0F, seed);
  for (std::size_t s = 0; s < filter.blocks.size(); ++s) {
    const Matrix Z = tests::random_matrix(filter.blocks[s].rows(), 3, seed * 100 + s);
    filter.blocks[s] = 0.3F * Z * Z.transpose();
  }
  return filter;
}

// T has fewer columns than `dim` only where no more are of use.
void expect_best(const Matrix& T, const ItemFilter& filter, Index dim, double tolerance) {
  ASSERT_LE(T.cols(), dim);
  const Dense dense = tests::dense_filter(filter);
  const Dense best = tests::best_approximation(dense, std::min(dim, dense.cols()));
  const Dense found = gram(widen(T));
  EXPECT_LE(tests::distance(found, best), tolerance * (1.0 + best.norm()));
  EXPECT_LE(tests::distance(found, dense),
            tests::distance(best, dense) + tolerance * (1.0 + best.norm()));
}

TEST(BestFactor, IsClosedWithoutBlocks) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const ItemFilter filter = tests::random_filter(14, 5, seed);
    for (const Index dim : {1, 3, 5, 8}) {  // narrower than the basis, as wide, wider
      const Matrix T = best_factor(filter, tests::random_matrix(14, dim, seed), 1).to_matrix();
      expect_best(T, filter, dim, 1e-5);
    }
  }
}

TEST(BestFactor, IsTheEckartYoungFactorOfAFilterWithBlocks) {
  for (const Index rank : {2, 5, 9}) {
    for (const Index dim : {2, 5, 9}) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        SCOPED_TRACE(fmt::format("rank {}, dim {}, seed {}", rank, dim, seed));
        const ItemHierarchy hierarchy = tests::random_hierarchy(17, 3, true, seed);
        const ItemFilter filter = positive_filter(hierarchy, rank, seed);
        const Matrix T = best_factor(filter, tests::random_matrix(17, dim, seed), 400).to_matrix();
        expect_best(T, filter, dim, 1e-3);
      }
    }
  }
}

// Powers of the eigenvalues that floats could not hold, and no bit lost.
TEST(BestFactor, OfAFilterTimesAPowerOfTwoIsTheSameTimesItsRoot) {
  constexpr Real kRoot = 1 << 20;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const ItemHierarchy hierarchy = tests::random_hierarchy(17, 3, true, seed);
    const ItemFilter filter = positive_filter(hierarchy, 5, seed);
    ItemFilter larger = filter_of_factor(kRoot * *filter.factor);
    larger.hierarchy = filter.hierarchy;
    for (const Matrix& block : filter.blocks) larger.blocks.emplace_back(kRoot * kRoot * block);
    for (const Index dim : {2, 5}) {
      const Matrix start = tests::random_matrix(17, dim, seed);
      EXPECT_EQ(best_factor(larger, start, 1).to_matrix(),
                kRoot * best_factor(filter, start, 1).to_matrix());
    }
  }
}

TEST(BestFactor, TakesMoreColumnsThanThereAreItems) {
  for (const Index num_items : {1, 2, 3}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const ItemHierarchy hierarchy = tests::random_hierarchy(num_items, 2, true, seed);
      const ItemFilter filter = positive_filter(hierarchy, 1, seed);
      const Matrix T =
          best_factor(filter, tests::random_matrix(num_items, 5, seed), 50).to_matrix();
      expect_best(T, filter, 5, 1e-4);
    }
  }
}

TEST(BestFactor, OfAFilterOfZerosIsZero) {
  ItemFilter filter = filter_of_factor(Matrix::Zero(6, 3));
  EXPECT_TRUE(best_factor(filter, tests::random_matrix(6, 3, 1), 2).to_matrix().isZero());
  const ItemHierarchy hierarchy = tests::random_hierarchy(6, 2, true, 1);
  filter.hierarchy = std::make_shared<const ItemHierarchy>(hierarchy);
  for (const Scope& scope : hierarchy.scopes) {
    filter.blocks.push_back(Matrix::Zero(scope.num_members(), scope.num_members()));
  }
  EXPECT_TRUE(best_factor(filter, tests::random_matrix(6, 3, 1), 2).to_matrix().isZero());
  EXPECT_TRUE(best_factor(filter, Matrix::Zero(6, 4), 2).to_matrix().isZero());
}

TEST(BestFactor, LeavesOutTheNegativePartOfTheSpectrum) {
  // One group of all items, whose block takes more than the low-rank part has.
  ItemFilter filter = filter_of_factor(Matrix::Constant(4, 1, 0.5F));
  MatrixOf<std::int32_t> members = MatrixOf<std::int32_t>::Zero(4, 1);
  filter.hierarchy = std::make_shared<const ItemHierarchy>(
      from_table({.members = members, .ends_with_items = false}));
  filter.blocks = {Matrix::Constant(1, 1, -1.0F)};
  EXPECT_LE(best_factor(filter, tests::random_matrix(4, 1, 1), 5).to_matrix().norm(), 1e-4F);
}
}  // namespace
}  // namespace fedhur::linalg
