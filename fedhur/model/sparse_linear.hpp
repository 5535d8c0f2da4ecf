// score(u, i) = the sum of B_ji over the items j of user u's history: nothing is learned per user,
// so a user the model has never met is scored by any list of items.
#pragma once
#include "fedhur/base/named_arrays.hpp"
#include "fedhur/data/interactions.hpp"
#include "fedhur/model/recommender.hpp"

namespace fedhur::model {
struct SparseLinear final : Recommender {
  data::UserItems histories;          // of the client's users
  Shared<SparseMatrix<Real>> filter;  // B; clients may hold one in common

  [[nodiscard]] Index num_users() const override { return histories.num_users(); }
  [[nodiscard]] Index num_items() const override { return filter->cols(); }
  void score(Index first_user, MatrixRef scores) const override;
};
}  // namespace fedhur::model
