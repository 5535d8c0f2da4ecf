#include "fedhur/model/matrix_factorization.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/support.hpp"

namespace fedhur::model {
namespace {
using linalg::RowGradient;

MatrixFactorization spec_model() {
  MatrixFactorization model;
  model.user_vectors.resize(2, 2);
  model.user_vectors << 1, .5, -1, 2;
  model.item_embeddings =
      std::make_shared<const Matrix>((Matrix(3, 2) << 1, 0, 0, 2, 1, 1).finished());
  return model;
}
const std::vector<Triple> kSpecTriples = {{0, 0, 1}, {1, 2, 0}};

Matrix dense(const RowGradient& gradient, Index rows, Index cols) {
  Matrix matrix = Matrix::Zero(rows, cols);
  for (Index row = 0; row < rows; ++row) {
    if (const Real* values = gradient.find(row)) {
      matrix.row(row) = Eigen::Map<const Eigen::RowVectorXf>(values, cols);
    }
  }
  return matrix;
}

struct Gradients {
  double loss;  // mean
  Matrix users;
  Matrix items;
};

Gradients gradients_of(const MatrixFactorization& model, const std::vector<Triple>& batch,
                       MfLoss loss, Real decay) {
  const Index dim = model.item_embeddings->cols();
  RowGradient users(model.num_users(), dim);
  RowGradient items(model.num_items(), dim);
  const double sum = add_batch_gradient(model.user_vectors, *model.item_embeddings, batch, loss,
                                        decay, users, items);
  return {sum / static_cast<double>(batch.size()), dense(users, model.num_users(), dim),
          dense(items, model.num_items(), dim)};
}

TEST(MatrixFactorization, HasTheWorkedExamplesLossAndGradient) {
  const Gradients result = gradients_of(spec_model(), kSpecTriples, MfLoss::elementwise, 0.1F);
  EXPECT_NEAR(result.loss, 1.35625, 1e-6);
  Matrix users(2, 2);
  users << 0.05F, 0.525F, -0.8F, 0.35F;
  Matrix items(3, 2);
  items << 0.35F, -0.125F, 0, 0.225F, 0.55F, 0.55F;
  EXPECT_TRUE(result.users.isApprox(users, 1e-5F)) << result.users;
  EXPECT_TRUE(result.items.isApprox(items, 1e-5F)) << result.items;
  EXPECT_NEAR(gradients_of(spec_model(), kSpecTriples, MfLoss::dot_mse, 0).loss, 0.5, 1e-6);
}

class Losses : public testing::TestWithParam<MfLoss> {};

TEST_P(Losses, HaveTheGradientOfFiniteDifferences) {
  MatrixFactorization model;
  model.user_vectors = tests::random_matrix(3, 5, 1);
  const auto items = std::make_shared<Matrix>(tests::random_matrix(4, 5, 2));
  model.item_embeddings = items;
  // Repeated rows: an item positive for one user and negative for another.
  const std::vector<Triple> batch = {{0, 1, 2}, {2, 2, 1}, {2, 2, 3}, {0, 1, 3}};
  const Gradients analytic = gradients_of(model, batch, GetParam(), 0.3F);
  constexpr Real kStep = 1e-2F;
  const auto check = [&](Matrix& parameters, const Matrix& gradient) {
    for (Index i = 0; i < parameters.size(); ++i) {
      const Real before = parameters.data()[i];
      parameters.data()[i] = before + kStep;
      const double up = gradients_of(model, batch, GetParam(), 0.3F).loss;
      parameters.data()[i] = before - kStep;
      const double down = gradients_of(model, batch, GetParam(), 0.3F).loss;
      parameters.data()[i] = before;
      EXPECT_NEAR((up - down) / (2.0 * static_cast<double>(kStep)), gradient.data()[i], 2e-3) << i;
    }
  };
  check(model.user_vectors, analytic.users);
  check(*items, analytic.items);
}
INSTANTIATE_TEST_SUITE_P(All, Losses,
                         testing::Values(MfLoss::elementwise, MfLoss::dot_mse, MfLoss::bce,
                                         MfLoss::bpr),
                         [](const auto& loss) { return name_of(loss.param); });

TEST(MatrixFactorization, LearnsFromLabelledPairsAsFromTheTriplesTheyMake) {
  MatrixFactorization model;
  model.user_vectors = tests::random_matrix(3, 5, 1);
  model.item_embeddings = std::make_shared<const Matrix>(tests::random_matrix(4, 5, 2));
  const Gradients triples =
      gradients_of(model, {{0, 1, 2}, {2, 2, 1}, {2, 2, 3}}, MfLoss::bce, 0.0F);
  const std::vector<LabelledPair> pairs = {{0, 1, 1.0F}, {0, 2, 0.0F}, {2, 2, 1.0F},
                                           {2, 1, 0.0F}, {2, 3, 0.0F}, {2, 2, 1.0F}};
  RowGradient users(3, 5);
  RowGradient items(4, 5);
  const double sum =
      add_batch_gradient(model.user_vectors, *model.item_embeddings, pairs, users, items);
  EXPECT_NEAR(sum / 6.0, triples.loss, 1e-6);
  EXPECT_TRUE(dense(users, 3, 5).isApprox(triples.users, 1e-5F));
  EXPECT_TRUE(dense(items, 4, 5).isApprox(triples.items, 1e-5F));
}

TEST(MatrixFactorization, StaysFiniteForHugeScores) {
  MatrixFactorization model = spec_model();
  model.user_vectors *= 1e4F;
  for (const MfLoss loss : {MfLoss::bce, MfLoss::bpr}) {
    const Gradients result = gradients_of(model, kSpecTriples, loss, 0);
    EXPECT_TRUE(std::isfinite(result.loss));
    EXPECT_TRUE(result.users.allFinite());
  }
}

TEST(MatrixFactorization, ScoresByInnerProduct) {
  const MatrixFactorization model = spec_model();
  Matrix scores(1, 3);
  model.score(1, scores);
  EXPECT_EQ(scores, (Matrix(1, 3) << -1, 4, 1).finished());
}

TEST(NegativeSampling, DrawsItemsOfTheUserAndItemsItHasNot) {
  const data::UserItems train = tests::user_items({{0, 3, 4}, {}, {1}, {0, 1, 2, 3, 4}});
  const auto triples = draw_triples(train, 5, Rng(3));
  EXPECT_LT(triples.size(), static_cast<std::size_t>(train.size()));  // users 1 and 3 give none
  EXPECT_FALSE(triples.empty());
  for (const Triple& triple : triples) {
    EXPECT_TRUE(train.contains(triple.user, item_id(triple.positive)));
    EXPECT_FALSE(train.contains(triple.user, item_id(triple.negative)));
    EXPECT_LT(triple.negative, 5);
  }
}

TEST(NegativeSampling, WeighsUsersAlikeWhateverTheirActivity) {
  std::vector<int> many;
  for (int i = 0; i < 900; ++i) many.push_back(i);
  const auto triples = draw_triples(tests::user_items({many, {5}}), 1000, Rng(1));
  const auto of_second =
      std::count_if(triples.begin(), triples.end(), [](const Triple& t) { return t.user == 1; });
  EXPECT_NEAR(static_cast<double>(of_second), 450, 70);
}
}  // namespace
}  // namespace fedhur::model
