// An item-item filter as an operator: low rank plus values that are constant on pairs of groups.
// Nothing n x n is ever formed.
#pragma once
#include <memory>
#include <vector>

#include "fedhur/base/named_arrays.hpp"
#include "fedhur/linalg/item_hierarchy.hpp"

namespace fedhur::linalg {
// V diag(values) V^T + sum over scopes of Map(blocks[scope]), where Map copies the value of a pair
// of members to all pairs of their items.
struct ItemFilter {
  Shared<Matrix> basis;                            // V, n x r, orthonormal columns
  Eigen::VectorXd values;                          // descending, none negative
  std::shared_ptr<const ItemHierarchy> hierarchy;  // null if there are no blocks
  std::vector<Matrix> blocks;                      // symmetric, one per scope

  [[nodiscard]] Index num_items() const { return basis->rows(); }
  [[nodiscard]] bool has_blocks() const { return !blocks.empty(); }
  [[nodiscard]] Matrix apply(ConstMatrixRef columns) const;
  [[nodiscard]] Matrix apply_blocks(ConstMatrixRef columns) const;
  [[nodiscard]] double squared_norm() const;  // Frobenius
  [[nodiscard]] Matrix to_dense() const;      // for tests and small studies
};

// The filter factor * factor^T. Its columns are orthogonal, as those of V Lambda^(1/2) are.
[[nodiscard]] ItemFilter filter_of_factor(ConstMatrixRef factor);

// T (n x dim) that makes ||T T^T - filter||_F least: the Eckart-Young theorem for the positive part
// of the spectrum. Without blocks it is closed; with blocks by subspace iteration that starts from
// the basis (and `start` where the basis is narrower than dim) and applies the filter `passes`
// times, with Rayleigh-Ritz at the end.
[[nodiscard]] Matrix best_factor(const ItemFilter& filter, ConstMatrixRef start, Index passes);

// ||E E^T - filter||_F, in double.
[[nodiscard]] double distance(ConstMatrixRef factor, const ItemFilter& filter);
}  // namespace fedhur::linalg
