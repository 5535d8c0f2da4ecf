// Which candidates can help a target, and with what weight: within one scope, for all targets.
#pragma once
#include <span>

#include "fedhur/server/relation_scores.hpp"
#include "fedhur/server/scorer.hpp"

namespace fedhur::server {
enum class Relation : std::uint8_t {
  none,             // equal weights: FedCIA
  own,              // the target itself alone (a control)
  candidate,        // one client alone, the same for all targets: what it has to give (a control)
  similarity,       // who is like the target
  complementarity,  // who is unlike it
  both,             // the sum of the two, standardised
  utility,          // who answers its utility query
  common,           // who answers the queries of all targets on average: one set of weights for all
                    // (a control: what is left of utility when nothing is personal)
};
constexpr auto names_of(Relation) {
  return std::array{"none", "own",     "candidate", "similarity", "complementarity",
                    "both", "utility", "common"};
}
[[nodiscard]] constexpr bool asks_queries(Relation relation) {
  return relation == Relation::utility || relation == Relation::common;
}

enum class Normalize : std::uint8_t {
  none,    // scores as they are: a candidate with larger embeddings answers louder
  energy,  // of each candidate the share of its energy
};
constexpr auto names_of(Normalize) { return std::array{"none", "energy"}; }

struct RetrievalConfig {
  Relation relation = Relation::utility;
  Normalize normalize = Normalize::none;  // of utility and common
  Index principal_directions = 4;         // kappa
  Index candidate = 0;
  double temperature = 1.0;  // tau
  double clip = 3.0;         // c
  bool has_itself = true;    // whether a target is among its own candidates
};
void declare_settings(Settings& settings, RetrievalConfig& config);

struct Retrieval {                       // of one scope; rows are targets, columns candidates
  MatrixOf<double> direct_scores;        // s
  MatrixOf<double> retrieval_scores;     // r
  MatrixOf<double> aggregation_weights;  // alpha; rows sum to one
  Matrix scorer_features;                // x of the pairs the scorer is trained on this round
  Vector score_targets;                  // Norm_j(s) of the same

  // Leaves only what the scorer is trained on.
  void forget_pairs() {
    direct_scores.resize(0, 0);
    retrieval_scores.resize(0, 0);
    aggregation_weights.resize(0, 0);
  }
};

// x_kj of one target: a row per candidate, every column standardised over the candidates.
[[nodiscard]] Matrix build_scorer_features(const DirectScores& direct,
                                           const Eigen::VectorXd& candidate_scales, Index target,
                                           const ScorerConfig& config);

// alpha = softmax_j(clip(Norm_j(r), -c, c) / tau)
[[nodiscard]] MatrixOf<double> weigh_candidates(const MatrixOf<double>& retrieval_scores,
                                                double clip, double temperature);
// The same over all candidates but the target itself, whose place among them is `places[target]`
// and whose weight is 0. A target without others has its own weight alone.
[[nodiscard]] MatrixOf<double> weigh_others(const MatrixOf<double>& retrieval_scores,
                                            std::span<const Index> places, double clip,
                                            double temperature);

// What retrieval knows of a scope. `queries` are needed where the relation asks them, and then the
// targets are those that ask; with the other relations all candidates are targets.
struct ScopeView {
  const std::vector<Matrix>& group_embeddings;
  const Matrix& grams;
  const std::vector<Matrix>& queries;
  std::span<const Index> places = {};  // of the targets among the candidates; for weigh_others()
};

// The scorer refines the direct scores as the last round left it; untrained, it does not refine.
// `training_targets` are the targets whose pairs it will be trained on.
[[nodiscard]] Retrieval retrieve_candidates(const ScopeView& scope, const RetrievalConfig& config,
                                            const Scorer& scorer, const ScorerConfig& scorer_config,
                                            const std::vector<Index>& training_targets);
}  // namespace fedhur::server
