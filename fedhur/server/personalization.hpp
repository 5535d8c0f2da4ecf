// From weights to what makes a client's personalised filter.
#pragma once
#include <vector>

#include "fedhur/server/retrieval.hpp"

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

// How the filters of a scope become residuals.
struct Mixing {
  const Matrix* basis = nullptr;     // V, to have V^T R_k V; null: R_k of the members themselves
  bool averages_parameters = false;  // by mix_parameters(), in the members' own space
};

struct ScopeResiduals {
  Matrix residuals;  // a packed row per target
  Retrieval retrieval;
};

// All that one scope gives to the personalised filters: who can help whom in it, and with what.
// Arguments as of retrieve_candidates().
[[nodiscard]] ScopeResiduals personalize_scope(const std::vector<Matrix>& group_embeddings,
                                               const std::vector<Matrix>& queries,
                                               const Mixing& mixing, const RetrievalConfig& config,
                                               const Scorer& scorer,
                                               const ScorerConfig& scorer_config,
                                               const std::vector<Index>& training_targets);

// The mean over targets of the entropy of their weights, as a share of the largest possible one.
[[nodiscard]] double relation_entropy(const MatrixOf<double>& aggregation_weights);
}  // namespace fedhur::server
