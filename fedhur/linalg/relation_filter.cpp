#include "fedhur/linalg/relation_filter.hpp"

#include "fedhur/base/error.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::linalg {
double RelationFilter::diagonal(Index member) const {
  if (dense.size() > 0) return static_cast<double>(dense(member, member));
  return factor.row(member).cast<double>().squaredNorm() + inherited;
}

Matrix RelationFilter::apply(ConstMatrixRef columns) const {
  if (dense.size() > 0) return dense * columns;
  const Matrix coordinates = factor.transpose() * columns;
  Matrix result = factor * coordinates;
  if (inherited != 0.0) {
    result.rowwise() += static_cast<Real>(inherited) * columns.colwise().sum();
  }
  return result;
}

double RelationFilter::spectral_norm() const {
  if (dense.size() == 0) return largest_eigenvalue(factor, inherited);
  return eigen_pairs(dense.cast<double>()).values(0);
}

Matrix RelationFilter::to_dense() const { return apply(Matrix::Identity(size(), size())); }

Real level_weight(const std::vector<Real>& level_weights, Index level) {
  expects(!level_weights.empty(), "there is a level weight");
  const auto last = static_cast<Index>(level_weights.size()) - 1;
  return level_weights[static_cast<std::size_t>(std::min(level, last))];
}

RelationFilter filter_of_items(ConstMatrixRef global_factor, const Scope& scope, double inherited) {
  return {.dense = {}, .factor = global_factor(scope.items, Eigen::all), .inherited = inherited};
}

double inherited_by(const Scope& scope, const std::vector<RelationFilter>& filters,
                    const std::vector<Real>& level_weights, const ItemHierarchy& hierarchy) {
  if (scope.parent < 0) return 0.0;
  const auto parent = static_cast<std::size_t>(scope.parent);
  return static_cast<double>(level_weight(level_weights, hierarchy.scopes[parent].level)) *
         filters[parent].diagonal(scope.member);
}
}  // namespace fedhur::linalg
