// The global relation filter of a scope, as the server computes it and a client rebuilds it.
#pragma once
#include <vector>

#include "fedhur/linalg/item_hierarchy.hpp"

namespace fedhur::linalg {
// F_g of one scope. For scopes of groups it is small and dense; for scopes of items it is
// factor * factor^T + inherited, where the factor are the items' rows of V Lambda^(1/2).
struct RelationFilter {
  Matrix dense;   // m x m, or empty
  Matrix factor;  // m x r, where dense is empty
  double inherited = 0.0;

  [[nodiscard]] Index size() const { return dense.size() > 0 ? dense.rows() : factor.rows(); }
  [[nodiscard]] double diagonal(Index member) const;
  [[nodiscard]] Matrix apply(ConstMatrixRef columns) const;
  [[nodiscard]] double spectral_norm() const;
  [[nodiscard]] Matrix to_dense() const;
};

// The weight of a level: the last one given holds for all finer levels too.
[[nodiscard]] Real level_weight(const std::vector<Real>& level_weights, Index level);

// The filter of a scope of items from the global factor V Lambda^(1/2).
[[nodiscard]] RelationFilter filter_of_items(ConstMatrixRef global_factor, const Scope& scope,
                                             double inherited);
// What a scope inherits: beta_{l-1} F_g^(l-1)[a, a], and 0 at the coarsest level. `filters` are
// those of the scopes before it.
[[nodiscard]] double inherited_by(const Scope& scope, const std::vector<RelationFilter>& filters,
                                  const std::vector<Real>& level_weights,
                                  const ItemHierarchy& hierarchy);
}  // namespace fedhur::linalg
