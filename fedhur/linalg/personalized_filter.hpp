// Eq. (personalized_filter): a client's own filter S~_k, the global one plus its residuals.
#pragma once
#include "fedhur/linalg/item_filter.hpp"

namespace fedhur::linalg {
// S_g + sum over levels of beta_l Map_l(R_k). `residuals` are the packed R_k of all scopes, one
// after the other: hierarchy->num_packed() numbers.
[[nodiscard]] ItemFilter add_residuals(ItemFilter global_filter,
                                       std::shared_ptr<const ItemHierarchy> hierarchy,
                                       const Matrix& residuals,
                                       const std::vector<Real>& level_weights);

// The same for a single scope of all items, whose residual is packed in the global basis:
// V (Lambda + beta R) V^T, without its negative part, in the form of an eigendecomposition.
[[nodiscard]] ItemFilter add_residual_in_basis(const ItemFilter& global_filter,
                                               const Matrix& residual, Real weight);

// The filter times what gives it this trace; as it is unless both traces are positive. The trace
// of S~_k is that of its eigenvalues and, by scope, sum over members of beta_l R_aa |a|.
[[nodiscard]] ItemFilter scale_to_trace(ItemFilter filter, double trace);
}  // namespace fedhur::linalg
