#include "fedhur/linalg/normalize.hpp"

#include <gtest/gtest.h>

#include "tests/support/support.hpp"

namespace fedhur::linalg {
namespace {
Eigen::VectorXd values(const std::vector<double>& list) {
  return Eigen::Map<const Eigen::VectorXd>(list.data(), static_cast<Index>(list.size()));
}

TEST(Normalize, GivesColumnsAndRowsUnitLengthButLeavesZeros) {
  Matrix by_column = tests::random_matrix(5, 4, 1);
  by_column.col(2).setZero();
  Matrix by_row = by_column.transpose();
  normalize_columns(by_column);
  normalize_rows(by_row);
  for (Index i = 0; i < 4; ++i) {
    EXPECT_NEAR(by_column.col(i).norm(), i == 2 ? 0.0F : 1.0F, 1e-6F);
    EXPECT_NEAR(by_row.row(i).norm(), i == 2 ? 0.0F : 1.0F, 1e-6F);
  }
}

TEST(Standardize, GivesMeanZeroAndDeviationOne) {
  Eigen::VectorXd x = values({1, 2, 3, 6});
  EXPECT_NEAR(standardize(x), std::sqrt(3.5), 1e-12);
  EXPECT_NEAR(x.mean(), 0.0, 1e-12);
  EXPECT_NEAR(x.squaredNorm(), 4.0, 1e-12);
  EXPECT_NEAR(x(3), 3.0 / std::sqrt(3.5), 1e-12);
}

TEST(Standardize, MakesZerosOfEqualValues) {
  for (const auto& list : std::vector<std::vector<double>>{
           {}, {7}, {0, 0, 0}, {5, 5, 5}, {0.3, 0.3 + 1e-9, 0.3}, {1e9, 1e9 + 1}}) {
    Eigen::VectorXd x = values(list);
    EXPECT_EQ(standardize(x), 0.0);
    EXPECT_TRUE((x.array() == 0.0).all());
  }
}

TEST(Standardize, SeesSmallValuesThatDiffer) {
  Eigen::VectorXd x = values({1e-12, 2e-12});
  EXPECT_GT(standardize(x), 0.0);
  EXPECT_NEAR(x(1), 1.0, 1e-9);
}

TEST(Softmax, SumsToOneForScoresOfAnySize) {
  for (const auto& list :
       std::vector<std::vector<double>>{{3}, {0, 0}, {1, 2, 4}, {1e4, -1e4, 0}}) {
    Eigen::VectorXd x = values(list);
    softmax(x, 0.5);
    EXPECT_NEAR(x.sum(), 1.0, 1e-12);
    EXPECT_GE(x.minCoeff(), 0.0);
  }
  Eigen::VectorXd x = values({0, std::log(3.0) * 2.0});
  softmax(x, 2.0);
  EXPECT_NEAR(x(1), 0.75, 1e-12);
  EXPECT_THROW(softmax(x, 0.0), std::logic_error);
}
}  // namespace
}  // namespace fedhur::linalg
