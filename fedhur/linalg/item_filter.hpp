// An item-item filter as an operator: low rank plus values that are constant on pairs of groups.
// Nothing n x n is ever formed.
#pragma once
#include <memory>
#include <vector>

#include "fedhur/base/named_arrays.hpp"
#include "fedhur/linalg/item_hierarchy.hpp"

namespace fedhur::linalg {
// B B^T + sum over scopes of Map(blocks[scope]), where Map copies the value of a pair of members to
// all pairs of their items.
struct ItemFilter {
  Shared<Matrix> factor;   // B = V Lambda^(1/2), n x r: orthogonal columns, the longest first
  Eigen::VectorXd values;  // Lambda: their squared lengths
  std::shared_ptr<const ItemHierarchy> hierarchy;  // null if there are no blocks
  std::vector<Matrix> blocks;                      // symmetric, one per scope

  [[nodiscard]] Index num_items() const { return factor->rows(); }
  [[nodiscard]] bool has_blocks() const { return !blocks.empty(); }
  [[nodiscard]] Matrix apply(ConstMatrixRef columns) const;
  [[nodiscard]] Matrix apply_blocks(ConstMatrixRef columns) const;
  [[nodiscard]] double squared_norm() const;  // Frobenius
  [[nodiscard]] double trace() const;
  [[nodiscard]] Matrix to_dense() const;  // for tests and small studies
};

[[nodiscard]] ItemFilter filter_of_factor(Shared<Matrix> factor);
[[nodiscard]] ItemFilter filter_of_factor(Matrix factor);

// T = tall * small: a table times a small matrix, multiplied out only when needed.
struct ItemFactor {
  Shared<Matrix> tall;     // n x q
  MatrixOf<double> small;  // q x p
  [[nodiscard]] Matrix to_matrix() const { return *tall * small.cast<Real>(); }
};

// T (n x p, p <= dim) that makes ||T T^T - filter||_F least: the Eckart-Young theorem for the
// positive part of the spectrum. Without blocks it is closed; with blocks by subspace iteration
// that starts from the factor (and `start`, n x dim, where the factor is narrower) and applies the
// filter `passes` times, with Rayleigh-Ritz at the end.
[[nodiscard]] ItemFactor best_factor(const ItemFilter& filter, ConstMatrixRef start, Index passes);

// ||E E^T - filter||_F, in double.
[[nodiscard]] double distance(ConstMatrixRef factor, const ItemFilter& filter);
}  // namespace fedhur::linalg
