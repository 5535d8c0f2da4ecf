// score(u, i) = p_u . e_i, and the four losses that train it.
#pragma once
#include <span>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/named_arrays.hpp"
#include "fedhur/linalg/adam.hpp"
#include "fedhur/model/recommender.hpp"
#include "fedhur/model/training_samples.hpp"

namespace fedhur::model {
struct MatrixFactorization final : Recommender {
  Matrix user_vectors;             // a row per user of the client
  Shared<Matrix> item_embeddings;  // a row per item; clients may hold one table in common

  [[nodiscard]] Index num_users() const override { return user_vectors.rows(); }
  [[nodiscard]] Index num_items() const override { return item_embeddings->rows(); }
  void score(Index first_user, MatrixRef scores) const override;
};

enum class MfLoss : std::uint8_t {
  elementwise,  // every coordinate of p * e to 1 (positive) or 0 (negative)
  dot_mse,      // the inner product to 1 or 0
  bce,          // logistic loss of both inner products
  bpr,          // logistic loss of their difference
};
constexpr auto names_of(MfLoss) { return std::array{"elementwise", "dot_mse", "bce", "bpr"}; }

// The mean loss of a batch of B triples is data term + weight_decay/(2B) * sum of the squared norms
// of the three rows of every triple. Returns B times it and adds its gradient (of the mean).
double add_batch_gradient(const Matrix& user_vectors, const Matrix& item_embeddings,
                          std::span<const Triple> batch, MfLoss loss, Real weight_decay,
                          linalg::RowGradient& user_gradient, linalg::RowGradient& item_gradient);
// The same for the mean cross-entropy of labelled pairs.
double add_batch_gradient(const Matrix& user_vectors, const Matrix& item_embeddings,
                          std::span<const LabelledPair> batch, linalg::RowGradient& user_gradient,
                          linalg::RowGradient& item_gradient);
}  // namespace fedhur::model
