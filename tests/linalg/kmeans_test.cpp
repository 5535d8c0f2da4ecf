#include "fedhur/linalg/kmeans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::linalg {
namespace {
using tests::Dense;

std::vector<Index> sizes_of(const std::vector<Index>& groups, Index num_groups) {
  std::vector<Index> sizes(static_cast<std::size_t>(num_groups), 0);
  for (const Index group : groups) ++sizes.at(static_cast<std::size_t>(group));
  return sizes;
}

Dense centres_of(const Matrix& rows, const std::vector<Index>& groups, Index num_groups) {
  Dense centres = Dense::Zero(num_groups, rows.cols());
  const auto sizes = sizes_of(groups, num_groups);
  for (Index row = 0; row < rows.rows(); ++row) {
    centres.row(groups[static_cast<std::size_t>(row)]) += rows.row(row).cast<double>();
  }
  for (Index group = 0; group < num_groups; ++group) {
    centres.row(group) /= static_cast<double>(sizes[static_cast<std::size_t>(group)]);
  }
  return centres;
}

TEST(KMeans, LeavesNoGroupEmpty) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Matrix rows = tests::random_matrix(23, 3, seed);
    for (const Index num_groups : {1, 2, 7, 22, 23}) {
      for (const Index steps : {1, 2, 25}) {
        const auto groups = group_rows(rows, num_groups, steps, Rng(seed));
        ASSERT_EQ(groups.size(), 23U);
        const auto sizes = sizes_of(groups, num_groups);
        EXPECT_GT(*std::min_element(sizes.begin(), sizes.end()), 0);
      }
    }
  }
}

TEST(KMeans, EndsWithEveryRowNearestToItsCentre) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix rows = tests::random_matrix(40, 2, seed);
    for (const Index num_groups : {1, 3, 9}) {
      const auto groups = group_rows(rows, num_groups, 1000, Rng(seed));
      const Dense centres = centres_of(rows, groups, num_groups);
      for (Index row = 0; row < rows.rows(); ++row) {
        const Eigen::VectorXd squares =
            (centres.rowwise() - rows.row(row).cast<double>()).rowwise().squaredNorm();
        EXPECT_LE(squares(groups[static_cast<std::size_t>(row)]), squares.minCoeff() + 1e-5);
      }
    }
  }
}

TEST(KMeans, FindsGroupsThatAreFarApart) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Matrix rows = 0.01F * tests::random_matrix(30, 2, seed);
    for (Index row = 0; row < 30; ++row)
      rows.row(row).array() += 10.0F * static_cast<Real>(row % 3);
    const auto groups = group_rows(rows, 3, 25, Rng(seed));
    for (std::size_t row = 0; row < 30; ++row) EXPECT_EQ(groups[row], groups[row % 3]);
    EXPECT_EQ(std::set<Index>(groups.begin(), groups.begin() + 3).size(), 3U);
  }
}

TEST(KMeans, DependsOnTheSeedAlone) {
  const Matrix rows = tests::random_matrix(50, 3, 1);
  EXPECT_EQ(group_rows(rows, 6, 25, Rng(2)), group_rows(rows, 6, 25, Rng(2)));
  EXPECT_NE(group_rows(rows, 6, 25, Rng(2)), group_rows(rows, 6, 25, Rng(3)));
}

TEST(KMeans, GivesEveryRowAGroupOfItsOwnWhereThereAreAsMany) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Matrix& rows : {tests::random_matrix(9, 2, seed), Matrix(Matrix::Ones(9, 2)),
                               Matrix(Matrix::Zero(9, 2))}) {
      const auto groups = group_rows(rows, 9, 25, Rng(seed));
      EXPECT_EQ(std::set<Index>(groups.begin(), groups.end()).size(), 9U);
    }
  }
}

TEST(KMeans, DividesCopiesOfOneRowToo) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto sizes = sizes_of(group_rows(Matrix::Constant(8, 3, 0.7F), 3, 25, Rng(seed)), 3);
    // Rows that fill no empty group are equally near to all centres, and go to the lowest.
    EXPECT_EQ(sizes, (std::vector<Index>{6, 1, 1}));
  }
}

TEST(KMeans, KeepsCopiesTogetherWhereThereAreRowsEnough) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Matrix rows(9, 2);
    for (Index row = 0; row < 9; ++row) rows.row(row) << static_cast<Real>(row % 3), 1.0F;
    const auto groups = group_rows(rows, 3, 25, Rng(seed));
    for (std::size_t row = 0; row < 9; ++row) EXPECT_EQ(groups[row], groups[row % 3]);
  }
}

TEST(KMeans, GivesATieToTheLowerGroup) {
  // 20 rows at -1, 20 at 1 and one in the middle, which is hardly ever drawn as a centre.
  Matrix rows(41, 1);
  for (Index row = 0; row < 41; ++row)
    rows(row, 0) = row == 40 ? 0.0F : row % 2 == 0 ? -1.0F : 1.0F;
  int num_lower = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    num_lower += group_rows(rows, 2, 1, Rng(seed))[40] == 0 ? 1 : 0;
  }
  EXPECT_GE(num_lower, 95);
}

TEST(KMeans, WantsAtLeastAsManyRowsAsGroups) {
  const Matrix rows = tests::random_matrix(3, 2, 1);
  EXPECT_THROW((void)group_rows(rows, 4, 25, Rng(1)), std::logic_error);
  EXPECT_THROW((void)group_rows(rows, 0, 25, Rng(1)), std::logic_error);
}
}  // namespace
}  // namespace fedhur::linalg
