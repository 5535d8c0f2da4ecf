// score(u, i) = w_u . e_i + b_u: a linear head takes the place of a user vector.
#pragma once
#include <span>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/named_arrays.hpp"
#include "fedhur/linalg/adam.hpp"
#include "fedhur/model/recommender.hpp"
#include "fedhur/model/training_samples.hpp"

namespace fedhur::model {
enum class HeadOwner : std::uint8_t {
  user,
  client,  // one head for all its users, who are ranked the same list
};
constexpr auto names_of(HeadOwner) { return std::array{"user", "client"}; }

// Heads are rows (w, b) with a column more than the item embeddings; a single row serves all users.
[[nodiscard]] inline Index head_of(const Matrix& heads, Index user) {
  return heads.rows() == 1 ? 0 : user;
}

struct LinearHeads final : Recommender {
  Index users = 0;
  Matrix heads;                    // a row per user, or a single one
  Shared<Matrix> item_embeddings;  // a row per item

  [[nodiscard]] Index num_users() const override { return users; }
  [[nodiscard]] Index num_items() const override { return item_embeddings->rows(); }
  void score(Index first_user, MatrixRef scores) const override;
};

// The loss of a batch of B pairs is the mean of their cross-entropies. Returns B times it, and adds
// its gradient (of the mean) to each one that is not null.
double add_head_gradients(const Matrix& heads, const Matrix& item_embeddings,
                          std::span<const LabelledPair> batch, linalg::RowGradient* head_gradient,
                          linalg::RowGradient* item_gradient);

// An item seen as the sum of two embeddings, z = w_u . (D_i + C_i) + b_u, which are pushed apart
// while the second is kept sparse:
//   L = 1/B sum_s cross-entropy - apart/(B d) sum_s |D_i - C_i|^2 + sparse/(B d) sum_s |C_i|_1
struct AdditiveLoss {
  double apart = 0.0;   // lambda
  double sparse = 0.0;  // mu
};
// Returns B times L, and adds its gradient (of the mean) with respect to heads, D and C.
double add_additive_gradients(const Matrix& heads, const Matrix& personal, const Matrix& shared,
                              std::span<const LabelledPair> batch, const AdditiveLoss& loss,
                              linalg::RowGradient& head_gradient,
                              linalg::RowGradient& personal_gradient,
                              linalg::RowGradient& shared_gradient);
}  // namespace fedhur::model
