// From weights to what makes a client's personalised filter.
#pragma once
#include <vector>

#include "fedhur/base/matrix.hpp"

namespace fedhur::server {
// Eq. (residual_filter): R_k = sum_j alpha_kj (F_j - F_g) of one scope and all targets, a packed
// row each; `grams` are those of pack_grams(). What F_j and F_g inherit cancels.
[[nodiscard]] Matrix mix_residuals(const MatrixOf<double>& aggregation_weights,
                                   const Matrix& grams);

// The paper's shortcut for the coarsest level: parameters are averaged by the weights instead of
// filters, R_k = Zbar_k Zbar_k^T - mean_j Z_j Z_j^T with Zbar_k = sum_j alpha_kj Z_j.
[[nodiscard]] Matrix mix_parameters(const MatrixOf<double>& aggregation_weights,
                                    const std::vector<Matrix>& group_embeddings,
                                    const Matrix& grams);

// The mean over targets of the entropy of their weights, as a share of the largest possible one.
[[nodiscard]] double relation_entropy(const MatrixOf<double>& aggregation_weights);
}  // namespace fedhur::server
