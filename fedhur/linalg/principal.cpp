#include "fedhur/linalg/principal.hpp"

#include "fedhur/base/error.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::linalg {
namespace {
MatrixOf<double> leading_directions(const MatrixOf<double>& centred, Index count) {
  expects(count >= 0 && count <= centred.cols(), "a table has as many directions as columns");
  return eigen_pairs(centred.transpose() * centred).vectors.leftCols(count);
}
}  // namespace

MatrixOf<double> centre_rows(const Matrix& table) {
  MatrixOf<double> centred = table.cast<double>();
  const Eigen::RowVectorXd mean = centred.colwise().mean();
  centred.rowwise() -= mean;
  return centred;
}

MatrixOf<double> principal_directions(const Matrix& table, Index count) {
  return leading_directions(centre_rows(table), count);
}

MatrixOf<double> principal_directions(const Matrix& table, const Eigen::VectorXd& occurrences,
                                      Index count) {
  const double total = occurrences.sum();
  expects(occurrences.size() == table.rows() && total > 0.0, "some rows of the table occur");
  MatrixOf<double> centred = table.cast<double>();
  const Eigen::RowVectorXd mean = occurrences.transpose() * centred / total;
  centred.rowwise() -= mean;
  centred.array().colwise() *= occurrences.array().sqrt();
  return leading_directions(centred, count);
}

MatrixOf<double> exact_basis(const Matrix& columns) {
  const MatrixOf<double> wide = columns.cast<double>();
  const EigenPairs pairs = eigen_pairs(wide.transpose() * wide);
  constexpr double kLeastShare = 1e-12;  // the square of what a float can tell from rounding
  Index rank = 0;
  while (rank < pairs.values.size() && pairs.values(rank) > kLeastShare * pairs.values(0)) ++rank;
  const Eigen::VectorXd scales = pairs.values.head(rank).cwiseSqrt().cwiseInverse();
  return wide * (pairs.vectors.leftCols(rank) * scales.asDiagonal());
}

double mean_principal_angle(const MatrixOf<double>& overlap) {
  // Singular values are the cosines of the angles. From their squares an angle near 0 or pi/2 is
  // off by the root of a rounding error, 2e-8: ask for no more digits.
  const Eigen::VectorXd squares = eigen_pairs(overlap.transpose() * overlap).values;
  return squares.cwiseMax(0.0).cwiseSqrt().cwiseMin(1.0).array().acos().mean();
}
}  // namespace fedhur::linalg
