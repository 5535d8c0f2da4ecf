#include "fedhur/linalg/low_rank.hpp"

#include <gtest/gtest.h>

#include "tests/support/decompositions.hpp"
#include "tests/support/support.hpp"

namespace fedhur::linalg {
namespace {
Matrix approximate(const Matrix& table, Index rank) {
  const LowRank low = truncate(table, rank);
  return expand(low.coordinates, low.directions);
}

TEST(LowRank, BringsBackATableOfThatRank) {
  const Matrix table = tests::random_matrix(2500, 3, 1) * tests::random_matrix(3, 7, 2);
  EXPECT_TRUE(approximate(table, 3).isApprox(table, 1e-5F));
  EXPECT_TRUE(approximate(table, 5).isApprox(table, 1e-5F)) << "directions to spare";
  EXPECT_FALSE(approximate(table, 2).isApprox(table, 1e-2F));
}

TEST(LowRank, LeavesWhatTheSingularValuesSay) {
  const Matrix table = tests::random_matrix(50, 9, 3);
  const Eigen::VectorXd values = tests::svd(table.cast<double>()).values;
  for (Index rank = 1; rank <= 9; ++rank) {
    const double least = values.tail(9 - rank).norm();
    EXPECT_NEAR((approximate(table, rank) - table).cast<double>().norm(), least, 1e-4) << rank;
  }
}

TEST(LowRank, HasOrthonormalDirectionsOfItsOwnShape) {
  const LowRank low = truncate(tests::random_matrix(30, 8, 4), 5);
  EXPECT_EQ(low.coordinates.rows(), 30);
  EXPECT_EQ(low.coordinates.cols(), 5);
  EXPECT_EQ(low.directions.rows(), 5);
  EXPECT_EQ(low.directions.cols(), 8);
  EXPECT_TRUE(Matrix(low.directions * low.directions.transpose()).isIdentity(1e-5F));
}

TEST(LowRank, TakesZerosFewRowsAndNone) {
  EXPECT_TRUE(approximate(Matrix::Zero(5, 4), 2).isZero(0));
  const Matrix few = tests::random_matrix(2, 6, 5);
  EXPECT_TRUE(approximate(few, 2).isApprox(few, 1e-5F));
  EXPECT_EQ(approximate(Matrix(0, 4), 3).rows(), 0);
  EXPECT_THROW((void)truncate(few, 0), std::logic_error);
  EXPECT_THROW((void)truncate(few, 7), std::logic_error);
}

TEST(LowRank, KeepsTinyAndHugeTablesInProportion) {
  const Matrix table = tests::random_matrix(40, 2, 6) * tests::random_matrix(2, 5, 7);
  for (const Real scale : {1e-30F, 1e30F}) {
    EXPECT_TRUE((approximate(scale * table, 2) / scale).isApprox(table, 1e-4F)) << scale;
  }
}
}  // namespace
}  // namespace fedhur::linalg
