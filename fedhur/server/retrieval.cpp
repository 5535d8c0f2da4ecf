#include "fedhur/server/retrieval.hpp"

#include <algorithm>

#include "fedhur/base/error.hpp"
#include "fedhur/base/settings.hpp"
#include "fedhur/linalg/normalize.hpp"

namespace fedhur::server {
namespace {
void standardize_rows(MatrixOf<double>& scores) {
  for (Index k = 0; k < scores.rows(); ++k) {
    Eigen::VectorXd row = scores.row(k).transpose();
    linalg::standardize(row);
    scores.row(k) = row.transpose();
  }
}

DirectScores score(const ScopeView& scope, const RetrievalConfig& config, bool wants_strengths) {
  const auto K = static_cast<Index>(scope.group_embeddings.size());
  DirectScores direct;
  switch (config.relation) {
    case Relation::none:
      direct.scores = MatrixOf<double>::Zero(K, K);
      break;
    case Relation::own:
      direct.scores = MatrixOf<double>::Identity(K, K);
      break;
    case Relation::candidate:
      expects(config.candidate < K, "the candidate is one of the clients");
      direct.scores = MatrixOf<double>::Zero(K, K);
      direct.scores.col(config.candidate).setOnes();
      break;
    case Relation::similarity:
      direct.scores = score_similarity(scope.group_embeddings);
      break;
    case Relation::complementarity:
      direct.scores = score_complementarity(scope.group_embeddings, config.principal_directions);
      break;
    case Relation::both: {
      direct.scores = score_similarity(scope.group_embeddings);
      MatrixOf<double> unlike =
          score_complementarity(scope.group_embeddings, config.principal_directions);
      standardize_rows(direct.scores);
      standardize_rows(unlike);
      direct.scores += unlike;
      break;
    }
    case Relation::utility:
    case Relation::common:
      direct =
          score_candidates(scope.queries, scope.group_embeddings, scope.grams, wants_strengths);
      if (config.normalize == Normalize::energy) divide_by_energy(direct, scope.group_embeddings);
      break;
  }
  return direct;
}

// r_k = s_k + lambda Std_j(s_k) Norm_j(f(x_k)), Eq. (refined_score)
void refine_scores(MatrixOf<double>& scores, const DirectScores& direct,
                   const Eigen::VectorXd& scales, const Scorer& scorer,
                   const ScorerConfig& config) {
  for (Index k = 0; k < scores.rows(); ++k) {
    Eigen::VectorXd standardized = scores.row(k).transpose();
    const double deviation = linalg::standardize(standardized);
    Eigen::VectorXd refinement =
        scorer.refine(build_scorer_features(direct, scales, k, config)).cast<double>();
    linalg::standardize(refinement);
    scores.row(k) +=
        static_cast<double>(config.refinement_weight) * deviation * refinement.transpose();
  }
}

void gather_training_rows(Retrieval& retrieval, const DirectScores& direct,
                          const Eigen::VectorXd& scales, const ScorerConfig& config,
                          const std::vector<Index>& targets, Index directions) {
  const Index K = direct.scores.cols();
  const auto rows = static_cast<Index>(targets.size()) * K;
  retrieval.scorer_features.resize(rows, config.num_features(directions));
  retrieval.score_targets.resize(rows);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Index first = static_cast<Index>(i) * K;
    retrieval.scorer_features.middleRows(first, K) =
        build_scorer_features(direct, scales, targets[i], config);
    Eigen::VectorXd standardized = direct.scores.row(targets[i]).transpose();
    linalg::standardize(standardized);
    retrieval.score_targets.segment(first, K) = standardized.cast<Real>();
  }
}
}  // namespace

void declare_settings(Settings& settings, RetrievalConfig& config) {
  settings.add("relation.kind", config.relation,
               "who can help a target: `none` (FedCIA), `own` (a control: the target alone), "
               "`candidate` (a control: the client `relation.candidate` alone, for all targets), "
               "`similarity` (who is like it), `complementarity` (who is unlike it), `both` (the "
               "sum of the two, standardised), `utility` (who answers its query), "
               "`common` (a control: the mean utility score over all targets, one set of weights "
               "for all)");
  settings.add("relation.normalize", config.normalize,
               "of `utility` and `common`: `energy` divides the direct score by ||Z_j||_F^2 of the "
               "candidate in the scope, so that large embeddings earn no weight; `none`: as it is");
  settings.add("relation.principal_directions", config.principal_directions, at_least(1),
               "of `complementarity`", "kappa");
  settings.add("relation.candidate", config.candidate, at_least(0),
               "the client of `relation.kind = candidate`, by its number");
  settings.add("retrieval.temperature", config.temperature, above(0),
               "of the softmax; towards 0 only the best candidate counts", "tau");
  settings.add(
      "retrieval.clip", config.clip, above(0),
      "no weight exceeds e^(c/tau) / (e^(c/tau) + (K-1) e^(-c/tau)), whatever a client uploads",
      "c");
  settings.add(
      "retrieval.itself", config.has_itself,
      "whether a target is among its own candidates. It has its own rows in its model "
      "already; without itself its weights all go to others, and K is one less in the bound of "
      "`retrieval.clip`");
}

Matrix build_scorer_features(const DirectScores& direct, const Eigen::VectorXd& candidate_scales,
                             Index target, const ScorerConfig& config) {
  const Index K = direct.scores.cols();
  const Index directions = direct.strengths.cols();
  Matrix features(K, config.num_features(directions));
  Eigen::VectorXd values(K);
  Index column = 0;
  const auto put = [&] {
    linalg::standardize(values);
    features.col(column++) = values.cast<Real>();
  };
  if (config.uses_strengths) {
    for (Index c = 0; c < directions; ++c) {
      values = direct.strengths.col(c).segment(target * K, K).cast<double>();
      put();
    }
  }
  if (config.uses_scale) {
    values = candidate_scales;
    put();
  }
  if (config.uses_total) {
    values = direct.scores.row(target).transpose().cwiseSqrt();
    put();
  }
  return features;
}

MatrixOf<double> weigh_candidates(const MatrixOf<double>& retrieval_scores, double clip,
                                  double temperature) {
  MatrixOf<double> weights = retrieval_scores;
  for (Index k = 0; k < weights.rows(); ++k) {
    Eigen::VectorXd row = weights.row(k).transpose();
    linalg::standardize(row);
    row = row.cwiseMax(-clip).cwiseMin(clip);
    linalg::softmax(row, temperature);
    weights.row(k) = row.transpose();
  }
  return weights;
}

MatrixOf<double> weigh_others(const MatrixOf<double>& retrieval_scores,
                              std::span<const Index> places, double clip, double temperature) {
  const Index K = retrieval_scores.cols();
  expects(std::ssize(places) == retrieval_scores.rows(), "every target has a place");
  if (K == 1) return MatrixOf<double>::Ones(retrieval_scores.rows(), 1);
  MatrixOf<double> others(retrieval_scores.rows(), K - 1);
  for (Index k = 0; k < others.rows(); ++k) {
    const Index own = places[static_cast<std::size_t>(k)];
    others.row(k) << retrieval_scores.row(k).head(own), retrieval_scores.row(k).tail(K - 1 - own);
  }
  others = weigh_candidates(others, clip, temperature);
  MatrixOf<double> weights = MatrixOf<double>::Zero(retrieval_scores.rows(), K);
  for (Index k = 0; k < others.rows(); ++k) {
    const Index own = places[static_cast<std::size_t>(k)];
    weights.row(k).head(own) = others.row(k).head(own);
    weights.row(k).tail(K - 1 - own) = others.row(k).tail(K - 1 - own);
  }
  return weights;
}

Retrieval retrieve_candidates(const ScopeView& scope, const RetrievalConfig& config,
                              const Scorer& scorer, const ScorerConfig& scorer_config,
                              const std::vector<Index>& training_targets) {
  const bool is_scored = asks_queries(config.relation) && scorer_config.is_used();
  const DirectScores direct = score(scope, config, is_scored);
  Retrieval retrieval;
  retrieval.direct_scores = direct.scores;
  retrieval.retrieval_scores = direct.scores;
  if (is_scored) {
    const Eigen::VectorXd scales = candidate_scales(scope.group_embeddings);
    if (scorer.is_trained()) {
      refine_scores(retrieval.retrieval_scores, direct, scales, scorer, scorer_config);
    }
    gather_training_rows(retrieval, direct, scales, scorer_config, training_targets,
                         scope.queries[0].cols());
  }
  if (config.relation == Relation::common) {
    const Eigen::RowVectorXd mean = retrieval.retrieval_scores.colwise().mean();
    retrieval.retrieval_scores.rowwise() = mean;
  }
  // These controls have no candidates to weigh.
  const bool is_settled =
      config.relation == Relation::own || config.relation == Relation::candidate;
  if (is_settled) {
    retrieval.aggregation_weights = direct.scores;
  } else if (config.has_itself) {
    retrieval.aggregation_weights =
        weigh_candidates(retrieval.retrieval_scores, config.clip, config.temperature);
  } else {
    retrieval.aggregation_weights =
        weigh_others(retrieval.retrieval_scores, scope.places, config.clip, config.temperature);
  }
  return retrieval;
}
}  // namespace fedhur::server
