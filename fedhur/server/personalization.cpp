#include "fedhur/server/personalization.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fedhur/base/error.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::server {
namespace {
// pack_grams() multiplies what is off the diagonal by sqrt(2).
void unscale(Matrix& packed, Index size) {
  constexpr Real kHalfRoot = 1.0F / std::numbers::sqrt2_v<Real>;
  Index at = 0;
  for (Index row = 0; row < size; ++row) {
    packed.middleCols(at + 1, size - row - 1) *= kHalfRoot;
    at += size - row;
  }
}

// V^T Z_j of all candidates.
std::vector<Matrix> in_basis(const Matrix& basis, const std::vector<Matrix>& group_embeddings) {
  std::vector<Matrix> coordinates;
  for (const Matrix& own : group_embeddings) coordinates.emplace_back(basis.transpose() * own);
  return coordinates;
}
}  // namespace

Matrix mix_residuals(const MatrixOf<double>& aggregation_weights, const Matrix& grams) {
  const double uniform = 1.0 / static_cast<double>(grams.rows());
  const Matrix weights = (aggregation_weights.array() - uniform).matrix().cast<Real>();
  Matrix residuals = weights * grams;
  unscale(residuals, linalg::side_of_packed(grams.cols()));
  return residuals;
}

Matrix mix_parameters(const MatrixOf<double>& aggregation_weights,
                      const std::vector<Matrix>& group_embeddings, const Matrix& grams) {
  std::vector<Matrix> averages;
  for (Index k = 0; k < aggregation_weights.rows(); ++k) {
    Matrix average = Matrix::Zero(group_embeddings[0].rows(), group_embeddings[0].cols());
    for (std::size_t j = 0; j < group_embeddings.size(); ++j) {
      average +=
          static_cast<Real>(aggregation_weights(k, static_cast<Index>(j))) * group_embeddings[j];
    }
    averages.push_back(std::move(average));
  }
  Matrix residuals = pack_grams(averages);
  residuals.rowwise() -= grams.colwise().mean();
  unscale(residuals, group_embeddings[0].rows());
  return residuals;
}

namespace {
// Q of one scope and all targets.
std::vector<Matrix> queries_of_scope(const Targets& targets, Index first_member,
                                     Index num_members) {
  std::vector<Matrix> own;
  for (const auto& query : targets.queries) {
    own.emplace_back(query->middleRows(first_member, num_members));
  }
  return own;
}

// Weights among some of the clients are not those of the federation: of these only what targets
// keep to themselves.
WeightSummary summarize(const MatrixOf<double>& weights, const Targets& targets,
                        bool has_all_clients) {
  if (has_all_clients) return summarize_weights(weights);
  double own = 0.0;
  for (std::size_t k = 0; k < targets.places.size(); ++k) {
    own += weights(static_cast<Index>(k), targets.places[k]);
  }
  return {.blocks = {}, .counts = {}, .own = own / static_cast<double>(targets.places.size())};
}

// Pairs of a scope and a target whose candidates the scorer is trained on, by scope.
std::vector<std::vector<Index>> draw_training_targets(const ScorerConfig& config, Index num_scopes,
                                                      Index num_targets, Index num_candidates,
                                                      Rng rng) {
  std::vector<std::vector<Index>> targets(static_cast<std::size_t>(num_scopes));
  if (!config.is_used()) return targets;
  const Index count = std::max<Index>(1, config.training_rows / num_candidates);
  for (Index i = 0; i < std::min(count, num_scopes * num_targets); ++i) {
    const auto scope = static_cast<std::size_t>(rng.below(static_cast<std::uint64_t>(num_scopes)));
    targets[scope].push_back(
        static_cast<Index>(rng.below(static_cast<std::uint64_t>(num_targets))));
  }
  return targets;
}
}  // namespace

Personalization personalize_filters(const GroupEmbeddings& group_embeddings, const Targets& targets,
                                    const PersonalizationConfig& config, const Scorer& scorer,
                                    Rng rng, const Executor& executor) {
  const std::vector<linalg::Scope>& scopes = group_embeddings.hierarchy().scopes;
  const Matrix* basis = config.basis;
  const auto training_targets =
      draw_training_targets(config.scorer, std::ssize(scopes), std::ssize(targets.clients),
                            group_embeddings.num_clients(), std::move(rng));
  std::vector<Index> first_member = {0};
  std::vector<Index> first_number = {0};
  for (const linalg::Scope& scope : scopes) {
    const Index size = basis != nullptr ? basis->cols() : scope.num_members();
    first_member.push_back(first_member.back() + scope.num_members());
    first_number.push_back(first_number.back() + linalg::packed_size(size));
  }
  Personalization result{.retrievals = std::vector<Retrieval>(scopes.size()),
                         .summaries = std::vector<WeightSummary>(scopes.size())};
  std::vector<Matrix> residuals(targets.clients.size(), Matrix(1, first_number.back()));
  Eigen::VectorXd entropy(std::ssize(scopes));
  executor.for_each(std::ssize(scopes), [&](Index scope) {
    const auto s = static_cast<std::size_t>(scope);
    const std::vector<Matrix> Z = group_embeddings.of_scope(scope);
    const Matrix grams = pack_grams(basis != nullptr ? in_basis(*basis, Z) : Z);
    const Matrix no_grams;  // those of a basis say nothing about the members
    Retrieval retrieval = retrieve_candidates(
        {.group_embeddings = Z,
         .grams = basis != nullptr ? no_grams : grams,
         .queries = queries_of_scope(targets, first_member[s], scopes[s].num_members()),
         .places = targets.places},
        config.retrieval, scorer, config.scorer, training_targets[s]);
    const MatrixOf<double>& alpha = retrieval.aggregation_weights;
    const bool mixes_parameters =
        basis == nullptr && config.coarse == Coarse::parameters && scopes[s].level == 0;
    const Matrix R =
        mixes_parameters ? mix_parameters(alpha, Z, grams) : mix_residuals(alpha, grams);
    for (std::size_t k = 0; k < residuals.size(); ++k) {
      residuals[k].middleCols(first_number[s], R.cols()) = R.row(static_cast<Index>(k));
    }
    entropy(scope) = relation_entropy(alpha);
    result.summaries[s] = summarize(alpha, targets, config.has_all_clients);
    if (!config.keeps_pairs) retrieval.forget_pairs();
    result.retrievals[s] = std::move(retrieval);
  });
  result.entropy = entropy.mean();
  for (Matrix& own : residuals) {
    result.residuals.push_back(std::make_shared<const Matrix>(std::move(own)));
  }
  return result;
}

std::optional<double> train_scorer(Scorer& scorer, const std::vector<Retrieval>& retrievals) {
  Index num_rows = 0;
  Index num_features = 0;
  for (const Retrieval& retrieval : retrievals) {
    num_rows += retrieval.scorer_features.rows();
    num_features = std::max(num_features, retrieval.scorer_features.cols());
  }
  if (num_rows == 0) return std::nullopt;
  Matrix features(num_rows, num_features);
  Vector targets(num_rows);
  Index row = 0;
  for (const Retrieval& retrieval : retrievals) {
    const Index count = retrieval.scorer_features.rows();
    if (count == 0) continue;
    features.middleRows(row, count) = retrieval.scorer_features;
    targets.segment(row, count) = retrieval.score_targets;
    row += count;
  }
  return scorer.update(features, targets);
}

double relation_entropy(const MatrixOf<double>& aggregation_weights) {
  const Index K = aggregation_weights.cols();
  if (K < 2) return 1.0;
  double sum = 0.0;
  for (Index i = 0; i < aggregation_weights.size(); ++i) {
    const double weight = aggregation_weights.data()[i];
    if (weight > 0.0) sum -= weight * std::log(weight);
  }
  return sum / static_cast<double>(aggregation_weights.rows()) / std::log(static_cast<double>(K));
}
}  // namespace fedhur::server
