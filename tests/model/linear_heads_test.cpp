#include "fedhur/model/linear_heads.hpp"

#include <gtest/gtest.h>

#include "tests/support/support.hpp"

namespace fedhur::model {
namespace {
using linalg::RowGradient;
using tests::random_matrix;

Matrix dense(const RowGradient& gradient, Index cols) {
  Matrix matrix = Matrix::Zero(gradient.num_rows(), cols);
  for (const std::int32_t row : gradient.touched()) {
    matrix.row(row) = Eigen::Map<const Matrix>(gradient.find(row), 1, cols);
  }
  return matrix;
}

// The analytic gradient is that of central differences of the mean loss.
template <class Loss>
void expect_gradient(Matrix& parameters, const Matrix& gradient, const Loss& loss) {
  constexpr Real kStep = 1e-2F;
  for (Index i = 0; i < parameters.size(); ++i) {
    const Real before = parameters.data()[i];
    parameters.data()[i] = before + kStep;
    const double up = loss();
    parameters.data()[i] = before - kStep;
    const double down = loss();
    parameters.data()[i] = before;
    EXPECT_NEAR((up - down) / (2.0 * static_cast<double>(kStep)), gradient.data()[i], 1e-3) << i;
  }
}

// Repeated users and items, with both labels.
const std::vector<LabelledPair> kBatch = {{0, 1, 1}, {2, 1, 0}, {2, 3, 1}, {0, 1, 1}, {0, 2, 0}};

class Heads : public testing::TestWithParam<Index> {};  // how many there are
INSTANTIATE_TEST_SUITE_P(OneOrPerUser, Heads, testing::Values(1, 3));

TEST_P(Heads, HaveTheGradientOfFiniteDifferences) {
  Matrix heads = random_matrix(GetParam(), 6, 1);
  Matrix items = random_matrix(4, 5, 2);
  RowGradient of_heads(heads.rows(), 6);
  RowGradient of_items(4, 5);
  const double sum = add_head_gradients(heads, items, kBatch, &of_heads, &of_items);
  const auto loss = [&] {
    return add_head_gradients(heads, items, kBatch, nullptr, nullptr) / 5.0;
  };
  EXPECT_EQ(loss(), sum / 5.0);
  expect_gradient(heads, dense(of_heads, 6), loss);
  expect_gradient(items, dense(of_items, 5), loss);
}

TEST_P(Heads, OfTwoTablesHaveTheGradientOfFiniteDifferences) {
  Matrix heads = random_matrix(GetParam(), 6, 1);
  Matrix personal = random_matrix(4, 5, 2);
  Matrix shared = random_matrix(4, 5, 3);
  // Central differences across the kink of |x| are no derivative.
  for (Index i = 0; i < shared.size(); ++i) shared.data()[i] += shared.data()[i] > 0 ? 0.1F : -0.1F;
  const AdditiveLoss weights = {.apart = 0.3, .sparse = 0.7};
  RowGradient of_heads(heads.rows(), 6);
  RowGradient of_personal(4, 5);
  RowGradient of_shared(4, 5);
  (void)add_additive_gradients(heads, personal, shared, kBatch, weights, of_heads, of_personal,
                               of_shared);
  const auto loss = [&] {
    RowGradient unused_heads(heads.rows(), 6);
    RowGradient unused_personal(4, 5);
    RowGradient unused_shared(4, 5);
    return add_additive_gradients(heads, personal, shared, kBatch, weights, unused_heads,
                                  unused_personal, unused_shared) /
           5.0;
  };
  expect_gradient(heads, dense(of_heads, 6), loss);
  expect_gradient(personal, dense(of_personal, 5), loss);
  expect_gradient(shared, dense(of_shared, 5), loss);
}

TEST(LinearHeads, OfTwoTablesHaveTheWorkedExamplesLossAndGradients) {
  const Matrix heads = (Matrix(1, 3) << 1, -1, 0.5F).finished();
  const Matrix personal = (Matrix(3, 2) << 0.5F, 0, 0, 0.5F, 1, 1).finished();
  const Matrix shared = (Matrix(3, 2) << 1, 0, 0, 2, 1, 1).finished();
  const std::vector<LabelledPair> batch = {{0, 0, 1}, {0, 1, 0}, {0, 1, 0}};
  const auto loss = [&](const AdditiveLoss& weights, Matrix& d_personal, Matrix& d_shared) {
    RowGradient of_heads(1, 3);
    RowGradient of_personal(3, 2);
    RowGradient of_shared(3, 2);
    const double sum = add_additive_gradients(heads, personal, shared, batch, weights, of_heads,
                                              of_personal, of_shared);
    d_personal = dense(of_personal, 2);
    d_shared = dense(of_shared, 2);
    return sum / 3.0;
  };
  Matrix d_personal;
  Matrix d_shared;
  const double entropy = loss({}, d_personal, d_shared);
  EXPECT_NEAR(entropy, 0.126928011, 1e-6);
  EXPECT_NEAR(entropy - loss({.apart = 1}, d_personal, d_shared), 0.791666667, 1e-6);
  EXPECT_NEAR(loss({.sparse = 1}, d_personal, d_shared) - entropy, 0.833333333, 1e-6);
  EXPECT_NEAR(loss({.apart = 0.1, .sparse = 0.1}, d_personal, d_shared), 0.131094678, 1e-6);
  const Matrix expected_shared =
      (Matrix(3, 2) << -0.03973431F, 0.03973431F, 0.07946861F, -0.14613528F, 0, 0).finished();
  const Matrix expected_personal =
      (Matrix(3, 2) << -0.02306764F, 0.03973431F, 0.07946861F, 0.02053139F, 0, 0).finished();
  EXPECT_LT((d_shared - expected_shared).cwiseAbs().maxCoeff(), 1e-6F) << d_shared;
  EXPECT_LT((d_personal - expected_personal).cwiseAbs().maxCoeff(), 1e-6F) << d_personal;
}

TEST(LinearHeads, ScoreEachUserByItsOwnHeadOrAllByOne) {
  LinearHeads model;
  model.users = 3;
  model.item_embeddings = std::make_shared<const Matrix>((Matrix(2, 2) << 1, 0, 2, 3).finished());
  model.heads = (Matrix(3, 3) << 1, 1, 0.5F, 0, 1, 0, -1, 2, 10).finished();
  Matrix scores(2, 2);
  model.score(1, scores);
  EXPECT_EQ(scores, (Matrix(2, 2) << 0, 3, 9, 14).finished());
  model.heads = Matrix(model.heads.topRows(1));
  model.score(1, scores);
  EXPECT_EQ(scores, (Matrix(2, 2) << 1.5F, 5.5F, 1.5F, 5.5F).finished());
  EXPECT_EQ(model.num_users(), 3);
}
}  // namespace
}  // namespace fedhur::model
