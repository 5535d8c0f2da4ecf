#include "fedhur/model/sparse_linear.hpp"

#include <gtest/gtest.h>

#include "tests/support/support.hpp"

namespace fedhur::model {
namespace {
SparseLinear example(const std::vector<std::vector<int>>& histories) {
  SparseMatrix<Real> filter(4, 4);
  filter.append(0, 1, 0.5F);
  filter.append(0, 3, 2.0F);
  filter.append(2, 1, 0.25F);
  filter.append(3, 0, -1.0F);
  SparseLinear recommender;
  recommender.histories = tests::user_items(histories);
  recommender.filter = std::make_shared<const SparseMatrix<Real>>(std::move(filter));
  return recommender;
}

TEST(SparseLinear, AddsUpTheRowsOfAHistory) {
  const SparseLinear recommender = example({{0, 2}, {}, {1, 3}, {0, 1, 2, 3}});
  EXPECT_EQ(recommender.num_users(), 4);
  EXPECT_EQ(recommender.num_items(), 4);
  Matrix scores = Matrix::Constant(4, 4, 7);
  recommender.score(0, scores);
  const Matrix expected =
      (Matrix(4, 4) << 0, 0.75, 0, 2, 0, 0, 0, 0, -1, 0, 0, 0, -1, 0.75, 0, 2).finished();
  EXPECT_EQ(scores, expected);
  Matrix some(2, 4);
  recommender.score(2, some);
  EXPECT_EQ(some, expected.bottomRows(2));
}

TEST(SparseLinear, WithoutEntriesKnowsNothing) {
  SparseLinear recommender = example({{0, 2}});
  recommender.filter = std::make_shared<const SparseMatrix<Real>>(4, 4);
  Matrix scores = Matrix::Ones(1, 4);
  recommender.score(0, scores);
  EXPECT_TRUE(scores.isZero());
}
}  // namespace
}  // namespace fedhur::model
