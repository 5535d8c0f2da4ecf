#include "fedhur/server/personalization.hpp"

#include <cmath>
#include <numbers>

#include "fedhur/linalg/symmetric.hpp"
#include "fedhur/server/relation_scores.hpp"

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
