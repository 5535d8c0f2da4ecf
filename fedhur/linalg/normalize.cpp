#include "fedhur/linalg/normalize.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "fedhur/base/error.hpp"

namespace fedhur::linalg {
Eigen::RowVectorXd squared_column_norms(ConstMatrixRef matrix) {
  Eigen::RowVectorXd squares = Eigen::RowVectorXd::Zero(matrix.cols());
  for (Index row = 0; row < matrix.rows(); ++row) {  // along the rows, as they lie in memory
    squares += matrix.row(row).cast<double>().cwiseAbs2();
  }
  return squares;
}

void normalize_columns(MatrixRef matrix) {
  Eigen::RowVectorXd scales = squared_column_norms(matrix);
  for (Index col = 0; col < matrix.cols(); ++col) {
    scales(col) = scales(col) > 0.0 ? 1.0 / std::sqrt(scales(col)) : 0.0;
  }
  const Eigen::RowVectorX<Real> factors = scales.cast<Real>();
  for (Index row = 0; row < matrix.rows(); ++row) {
    matrix.row(row) = matrix.row(row).cwiseProduct(factors);
  }
}

void normalize_rows(MatrixRef matrix) {
  for (Index row = 0; row < matrix.rows(); ++row) {
    const double norm = matrix.row(row).cast<double>().norm();
    if (norm > 0.0) matrix.row(row) *= static_cast<Real>(1.0 / norm);
  }
}

double standardize(Eigen::Ref<Eigen::VectorXd> values) {
  if (values.size() == 0) return 0.0;
  const double largest = values.cwiseAbs().maxCoeff();
  values.array() -= values.mean();
  const double deviation = std::sqrt(values.squaredNorm() / static_cast<double>(values.size()));
  // The paper leaves Norm_j of equal scores open; zeros make softmax weigh all candidates alike.
  // Scores come from products of floats: what differs by less than this is equal.
  constexpr double kRounding = 1e-5;
  if (!(deviation > kRounding * largest)) {
    values.setZero();
    return 0.0;
  }
  values /= deviation;
  return deviation;
}

void softmax(Eigen::Ref<Eigen::VectorXd> values, double temperature) {
  expects(temperature > 0.0, "a temperature is above 0");
  if (values.size() == 0) return;
  const double largest = values.maxCoeff();
  values = ((values.array() - largest) / temperature).exp();
  values /= values.sum();
}

Eigen::VectorXd project_on_simplex(const Eigen::VectorXd& scores) {
  expects(scores.size() > 0, "there is something to weigh");
  Eigen::VectorXd descending = scores;
  std::sort(descending.begin(), descending.end(), std::greater<>());
  double sum = 0.0;
  double tau = 0.0;
  for (Index count = 1; count <= descending.size(); ++count) {
    // The largest so many scores are the support as long as the smallest of them stays above tau.
    sum += descending(count - 1);
    const double next = (sum - 1.0) / static_cast<double>(count);
    if (descending(count - 1) <= next) break;
    tau = next;
  }
  return (scores.array() - tau).max(0.0);
}
}  // namespace fedhur::linalg
