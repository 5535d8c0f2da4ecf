// Who can help whom in each scope, and the residual filters that come of it.
#pragma once
#include <optional>
#include <vector>

#include "fedhur/base/ids.hpp"
#include "fedhur/server/group_embeddings.hpp"
#include "fedhur/server/relation_summary.hpp"
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

// How the coarsest level mixes what the candidates have.
enum class Coarse : std::uint8_t {
  filters,     // as all other levels do
  parameters,  // by mix_parameters()
};
constexpr auto names_of(Coarse) { return std::array{"filters", "parameters"}; }

// Who gets a filter of its own. All participants of a round are candidates.
struct Targets {
  std::vector<ClientId> clients;        // in ascending order
  std::vector<Index> places;            // of each among the candidates
  std::vector<Shared<Matrix>> queries;  // Q, scope below scope; where queries are asked
};

struct PersonalizationConfig {
  RetrievalConfig retrieval{};
  ScorerConfig scorer{};
  Coarse coarse = Coarse::filters;
  const Matrix* basis = nullptr;  // V, for a single scope whose residuals are V^T R_k V
  bool has_all_clients = true;    // among the targets: the weights are those of the federation
  bool keeps_pairs = false;       // scores and weights, K x K for each of very many scopes
};

// What a round's relations come to.
struct Personalization {
  std::vector<Retrieval> retrievals{};      // by scope
  std::vector<WeightSummary> summaries{};   // by scope; without blocks unless has_all_clients
  double entropy = 0.0;                     // mean of relation_entropy() over the scopes
  std::vector<Shared<Matrix>> residuals{};  // by target: R_k of all scopes, packed
};

// Scores, weights and residual filters of all scopes. The scorer is trained on pairs that are drawn
// by `rng`.
[[nodiscard]] Personalization personalize_filters(const GroupEmbeddings& group_embeddings,
                                                  const Targets& targets,
                                                  const PersonalizationConfig& config,
                                                  const Scorer& scorer, Rng rng,
                                                  const Executor& executor);

// Eq. (score_loss): the scorer learns from this round and serves the next. The loss before, if
// there was anything to learn from.
std::optional<double> train_scorer(Scorer& scorer, const std::vector<Retrieval>& retrievals);

// The mean over targets of the entropy of their weights, as a share of the largest possible one.
[[nodiscard]] double relation_entropy(const MatrixOf<double>& aggregation_weights);
}  // namespace fedhur::server
