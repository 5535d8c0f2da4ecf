#include "fedhur/linalg/personalized_filter.hpp"

#include <cmath>

#include "fedhur/linalg/relation_filter.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::linalg {
ItemFilter add_residuals(ItemFilter global_filter, std::shared_ptr<const ItemHierarchy> hierarchy,
                         const Matrix& residuals, const std::vector<Real>& level_weights) {
  const Real* at = residuals.data();
  for (const Scope& scope : hierarchy->scopes) {
    global_filter.blocks.emplace_back(level_weight(level_weights, scope.level) *
                                      unpack(at, scope.num_members()));
    at += packed_size(scope.num_members());
  }
  global_filter.hierarchy = std::move(hierarchy);
  return global_filter;
}

ItemFilter add_residual_in_basis(const ItemFilter& global_filter, const Matrix& residual,
                                 Real weight) {
  const Eigen::VectorXd& values = global_filter.values;
  const Matrix weighted = weight * unpack(residual.data(), values.size());
  MatrixOf<double> core = weighted.cast<double>();
  core.diagonal() += values;
  const EigenPairs pairs = eigen_pairs(core);
  Eigen::VectorXd inverse_lengths = Eigen::VectorXd::Zero(core.rows());
  for (Index i = 0; i < core.rows(); ++i) {
    if (values(i) > 0.0) inverse_lengths(i) = 1.0 / std::sqrt(values(i));
  }
  const MatrixOf<double> transform = inverse_lengths.asDiagonal() * pairs.vectors *
                                     pairs.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
  return filter_of_factor(*global_filter.factor * transform.cast<Real>());
}

ItemFilter scale_to_trace(ItemFilter filter, double trace) {
  const double present = filter.trace();
  if (!(present > 0.0 && trace > 0.0)) return filter;
  const double scale = trace / present;
  filter.factor =
      std::make_shared<const Matrix>(static_cast<Real>(std::sqrt(scale)) * *filter.factor);
  filter.values *= scale;
  for (Matrix& block : filter.blocks) block *= static_cast<Real>(scale);
  return filter;
}
}  // namespace fedhur::linalg
