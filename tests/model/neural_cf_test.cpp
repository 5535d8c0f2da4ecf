#include "fedhur/model/neural_cf.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::model::neural_cf_test {
namespace {
using tests::Dense;
using DenseTables = NeuralTables<Dense>;

NeuralParameters random_parameters(Index users, Index items, Index dim, Index gmf_dim,
                                   const std::vector<Index>& hidden, std::uint64_t seed) {
  NeuralWeights weights = draw_weights(dim, gmf_dim, hidden, Rng(seed));
  return {.user_vectors = tests::random_matrix(users, dim, seed + 1),
          .gmf_user_vectors = tests::random_matrix(users, gmf_dim, seed + 2),
          .item_embeddings = tests::random_matrix(items, dim, seed + 3),
          .gmf_item_embeddings = tests::random_matrix(items, gmf_dim, seed + 4),
          .gmf_weights = weights.gmf_weights,
          .network = weights.network};
}

// The score in double, straight from its definition.
double score_of(const DenseTables& model, Index user, Index item) {
  std::vector<double> values;
  for (Index q = 0; q < model.user_vectors.cols(); ++q)
    values.push_back(model.user_vectors(user, q));
  for (Index q = 0; q < model.item_embeddings.cols(); ++q) {
    values.push_back(model.item_embeddings(item, q));
  }
  for (std::size_t layer = 0; layer < model.network.size(); ++layer) {
    const Dense& weights = model.network[layer];
    std::vector<double> next;
    for (Index neuron = 0; neuron < weights.rows(); ++neuron) {
      double sum = weights(neuron, weights.cols() - 1);
      for (std::size_t i = 0; i < values.size(); ++i) {
        sum += weights(neuron, static_cast<Index>(i)) * values[i];
      }
      next.push_back(layer + 1 < model.network.size() ? std::max(0.0, sum) : sum);
    }
    values = next;
  }
  double score = values.front();
  for (Index q = 0; q < model.gmf_weights.cols(); ++q) {
    score += model.gmf_weights(0, q) * model.gmf_user_vectors(user, q) *
             model.gmf_item_embeddings(item, q);
  }
  return score;
}

double mean_loss(const DenseTables& model, const std::vector<LabelledPair>& batch) {
  double sum = 0.0;
  for (const LabelledPair& pair : batch) {
    const double z = score_of(model, pair.user, pair.item);
    sum += pair.label > 0 ? std::log1p(std::exp(-z)) : std::log1p(std::exp(z));
  }
  return sum / static_cast<double>(batch.size());
}

DenseTables widen(const NeuralParameters& parameters) {
  return parameters.map([](const Matrix& table) { return Dense(table.cast<double>()); });
}

// Users and items repeat, with both labels.
const std::vector<LabelledPair> kBatch = {{0, 1, 1}, {2, 1, 0}, {0, 4, 0}, {0, 1, 1}, {2, 3, 1}};

TEST(NeuralCf, ScoresAsInTheWorkedExample) {
  const NeuralParameters model = {
      .user_vectors = (Matrix(1, 2) << 1, 0).finished(),
      .gmf_user_vectors = (Matrix(1, 2) << 1, -1).finished(),
      .item_embeddings = (Matrix(1, 2) << 0, 2).finished(),
      .gmf_item_embeddings = (Matrix(1, 2) << 0.5, 0.5).finished(),
      .gmf_weights = (Matrix(1, 2) << 1, 1).finished(),
      .network = {(Matrix(2, 5) << 1, 0, 0, 0.5, 0, 0, -1, 1, -1, 0.5).finished(),
                  (Matrix(1, 3) << 0.5, -0.5, 0.1F).finished()}};
  ASSERT_TRUE(is_whole(model));
  const std::vector<LabelledPair> liked = {{0, 0, 1}};
  EXPECT_NEAR(score_pairs(model, liked)(0), 1.1, 1e-6);
  NeuralGradient gradient = make_gradient(model);
  EXPECT_NEAR(add_batch_gradient(model, liked, gradient), 0.287335325, 1e-7);
}

TEST(NeuralCf, HasTheGradientOfItsLoss) {
  for (std::uint64_t seed = 10; seed <= 30; seed += 10) {
    for (const Index gmf_dim : {0, 2}) {
      for (const auto& hidden : {std::vector<Index>{4}, std::vector<Index>{6, 3, 2}}) {
        const NeuralParameters model = random_parameters(3, 6, 3, gmf_dim, hidden, seed);
        NeuralGradient gradient = make_gradient(model);
        const double sum = add_batch_gradient(model, kBatch, gradient);
        DenseTables wide = widen(model);
        EXPECT_NEAR(sum / 5.0, mean_loss(wide, kBatch), 1e-6);
        const auto check = [&](const std::string& name, Dense& table,
                               const linalg::RowGradient& own) {
          constexpr double kStep = 1e-6;
          for (Index row = 0; row < table.rows(); ++row) {
            for (Index col = 0; col < table.cols(); ++col) {
              const double value = table(row, col);
              table(row, col) = value + kStep;
              const double above = mean_loss(wide, kBatch);
              table(row, col) = value - kStep;
              const double below = mean_loss(wide, kBatch);
              table(row, col) = value;
              const Real* found = own.find(row);
              EXPECT_NEAR(found == nullptr ? 0.0F : found[col], (above - below) / (2.0 * kStep),
                          2e-6)
                  << name << " " << row << " " << col;
            }
          }
        };
        visit_tables(check, wide, gradient);
        EXPECT_EQ(gradient.item_embeddings.find(0), nullptr) << "no pair has this item";
      }
    }
  }
}

TEST(NeuralCf, ScoresAllItemsAsItScoresPairs) {
  for (const Index gmf_dim : {0, 3}) {
    for (const auto& hidden : {std::vector<Index>{5}, std::vector<Index>{6, 3, 2}}) {
      NeuralCf model;
      model.parameters = random_parameters(5, 7, 3, gmf_dim, hidden, 3);
      std::vector<LabelledPair> pairs;
      for (std::int32_t user = 1; user < 4; ++user) {
        for (std::int32_t item = 0; item < 7; ++item) pairs.push_back({user, item, 0});
      }
      const Vector plain = score_pairs(model.parameters, pairs);
      Matrix scores(3, 7);
      model.score(1, scores);
      tests::expect_close(scores, Eigen::Map<const Matrix>(plain.data(), 3, 7), 1e-6);
      EXPECT_NEAR(scores(2, 5), score_of(widen(model.parameters), 3, 5), 1e-5);
    }
  }
}

TEST(NeuralCf, DrawsItsOutputAsOneLayer) {
  const NeuralWeights weights = draw_weights(8, 60, {4}, Rng(1));
  ASSERT_EQ(weights.network.size(), 2U);
  EXPECT_EQ(weights.network[0].rows(), 4);
  EXPECT_EQ(weights.network[0].cols(), 17);
  EXPECT_LE(weights.network[0].cwiseAbs().maxCoeff(), 0.25F);
  EXPECT_LE(weights.network[1].cwiseAbs().maxCoeff(), 0.125F);
  EXPECT_LE(weights.gmf_weights.cwiseAbs().maxCoeff(), 0.125F);
  EXPECT_GT(weights.gmf_weights.cwiseAbs().maxCoeff(), 0.11F);
}

TEST(NeuralCf, KnowsWhetherItsTablesFitTogether) {
  const NeuralParameters whole = random_parameters(3, 6, 3, 2, {4}, 1);
  EXPECT_TRUE(is_whole(whole));
  const auto spoil = [&](const std::function<void(NeuralParameters&)>& change) {
    NeuralParameters model = whole;
    change(model);
    return is_whole(model);
  };
  EXPECT_FALSE(spoil([](auto& model) { model.network.pop_back(); }));
  EXPECT_FALSE(spoil([](auto& model) { model.network[0] = Matrix::Zero(4, 6); }));
  EXPECT_FALSE(spoil([](auto& model) { model.network[1] = Matrix::Zero(2, 5); }));
  EXPECT_FALSE(spoil([](auto& model) { model.item_embeddings = Matrix::Zero(6, 2); }));
  EXPECT_FALSE(spoil([](auto& model) { model.gmf_item_embeddings = Matrix::Zero(5, 2); }));
  EXPECT_FALSE(spoil([](auto& model) { model.gmf_user_vectors = Matrix::Zero(3, 3); }));
  EXPECT_FALSE(spoil([](auto& model) { model.gmf_weights = Matrix::Zero(1, 3); }));
}
}  // namespace
}  // namespace fedhur::model::neural_cf_test
