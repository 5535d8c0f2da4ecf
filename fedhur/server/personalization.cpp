#include "fedhur/server/personalization.hpp"

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

ScopeResiduals personalize_scope(const std::vector<Matrix>& group_embeddings,
                                 const std::vector<Matrix>& queries, const Mixing& mixing,
                                 const RetrievalConfig& config, const Scorer& scorer,
                                 const ScorerConfig& scorer_config,
                                 const std::vector<Index>& training_targets) {
  const bool has_basis = mixing.basis != nullptr;
  expects(!(has_basis && mixing.averages_parameters), "parameters are averaged by member");
  const Matrix grams =
      pack_grams(has_basis ? in_basis(*mixing.basis, group_embeddings) : group_embeddings);
  const Matrix no_grams;  // those of a basis say nothing about the members
  ScopeResiduals result;
  result.retrieval = retrieve_candidates({.group_embeddings = group_embeddings,
                                          .grams = has_basis ? no_grams : grams,
                                          .queries = queries},
                                         config, scorer, scorer_config, training_targets);
  const MatrixOf<double>& alpha = result.retrieval.aggregation_weights;
  result.residuals = mixing.averages_parameters ? mix_parameters(alpha, group_embeddings, grams)
                                                : mix_residuals(alpha, grams);
  return result;
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
