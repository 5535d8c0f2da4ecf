#include "fedhur/linalg/orthogonal.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/error.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::linalg {
namespace {
using Square = MatrixOf<double>;

constexpr double kLeastPivot = 1e-2;  // below, rounding in the Gram matrix takes over

// gram = D (L L^T) D with unit diagonal inside; D^-1 L^-T makes orthonormal columns. Returns the
// smallest pivot of L, 1 if the columns are orthogonal already, and 0 if they are too dependent.
double cholesky_transform(const Square& gram, Square& transform) {
  if (!(gram.diagonal().minCoeff() > 0.0)) return 0.0;
  const Eigen::VectorXd scales = gram.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::LLT<Square> cholesky(scales.asDiagonal() * gram * scales.asDiagonal());
  if (cholesky.info() != Eigen::Success) return 0.0;
  const double pivot = cholesky.matrixLLT().diagonal().minCoeff();
  if (pivot < kLeastPivot) return 0.0;
  transform.setIdentity(gram.rows(), gram.rows());
  cholesky.matrixU().solveInPlace(transform);
  transform = (scales.asDiagonal() * transform).eval();
  return pivot;
}

// By eigenvectors of the Gram matrix in double: slower, but finds out which directions are none.
Square eigen_transform(ConstMatrixRef tall) {
  constexpr double kLeastShare = 1e-12;  // the square of what a float can tell from rounding
  const Square wide = tall.cast<double>();
  const Square gram = wide.transpose() * wide;
  Eigen::VectorXd scales = Eigen::VectorXd::Zero(gram.rows());
  for (Index i = 0; i < gram.rows(); ++i) {
    if (gram(i, i) > 0.0) scales(i) = 1.0 / std::sqrt(gram(i, i));
  }
  const EigenPairs pairs = eigen_pairs(scales.asDiagonal() * gram * scales.asDiagonal());
  Index rank = 0;
  while (rank < gram.rows() && pairs.values(rank) > kLeastShare * pairs.values(0)) ++rank;
  const Square transform = scales.asDiagonal() * pairs.vectors.leftCols(rank);
  return transform * pairs.values.head(rank).cwiseSqrt().cwiseInverse().asDiagonal();
}

// X^T X, of which only the upper half is computed.
Square gram_of(ConstMatrixRef X) {
  Matrix gram = Matrix::Zero(X.cols(), X.cols());
  gram.selfadjointView<Eigen::Upper>().rankUpdate(X.transpose());
  return Matrix(gram.selfadjointView<Eigen::Upper>()).cast<double>();
}
// For a matrix that is singular, or nearly: M = U Sigma W^T from the eigenvectors W of M^T M;
// columns of U for zero singular values are completed from unit vectors.
Square completed_polar_factor(const Square& matrix) {
  const EigenPairs pairs = eigen_pairs(matrix.transpose() * matrix);
  Square U = matrix * pairs.vectors;
  constexpr double kLeastShare =
      1e-7;  // of the largest singular value: half the digits of a double
  const double least = kLeastShare * U.col(0).norm();
  Index next_unit = 0;
  for (Index i = 0; i < U.cols(); ++i) {
    Eigen::VectorXd column = U.col(i);
    const auto orthogonalize = [&] {  // twice is enough
      for (int pass = 0; pass < 2; ++pass) {
        column -= U.leftCols(i) * (U.leftCols(i).transpose() * column).eval();
      }
    };
    if (column.norm() > least) orthogonalize();
    while (!(column.norm() > least)) {
      column = Eigen::VectorXd::Unit(U.rows(), next_unit++);
      orthogonalize();
      if (column.norm() < 1e-3) column.setZero();  // nearly spanned already: the next one
    }
    U.col(i) = column.normalized();
  }
  return U * pairs.vectors.transpose();
}
}  // namespace

MatrixOf<double> orthonormalizer(ConstMatrixRef tall) {
  Square transform;
  if (cholesky_transform(gram_of(tall), transform) > 0.0) return transform;
  return eigen_transform(tall);
}

Matrix orthonormalize(Matrix tall) {
  if (tall.size() == 0) return tall;
  const Index num_cols = tall.cols();
  constexpr double kGoodPivot = 0.7;  // the columns were nearly orthogonal: one step is enough
  Square transform;
  for (int step = 0; step < 4; ++step) {
    const double pivot = cholesky_transform(gram_of(tall), transform);
    if (pivot == 0.0) transform = eigen_transform(tall);
    tall = Matrix(tall * transform.cast<Real>());
    if (pivot >= kGoodPivot || tall.cols() == 0) break;
  }
  const Index rank = tall.cols();
  if (rank < num_cols) {
    tall.conservativeResize(Eigen::NoChange, num_cols);
    tall.rightCols(num_cols - rank).setZero();
  }
  return tall;
}

MatrixOf<double> polar_factor(const MatrixOf<double>& matrix) {
  expects(matrix.rows() >= matrix.cols(), "orthonormal columns need as many rows");
  const Index size = matrix.cols();
  const double norm = matrix.norm();
  if (!(norm > 0.0)) return Square::Identity(matrix.rows(), size);
  // Dynamically weighted Halley iteration: singular values in [least, 1] go to 1 in about six
  // steps, each a Cholesky factorisation. Nothing but the speed depends on the guess of `least`.
  Square X = matrix / norm;
  double least = 1e-6;
  const Square identity = Square::Identity(size, size);
  constexpr int kMaxSteps = 12;
  for (int step = 0; step < kMaxSteps; ++step) {
    const Square gram = X.transpose() * X;
    if ((gram - identity).norm() < 1e-9 * static_cast<double>(size)) {
      // The last digits by one step of Newton and Schulz, which needs no factorisation.
      return 1.5 * X - 0.5 * X * gram;
    }
    const double squared = least * least;
    const double d = std::cbrt(4.0 * (1.0 - squared) / (squared * squared));
    const double root = std::sqrt(1.0 + d);
    const double a =
        root +
        0.5 * std::sqrt(std::max(0.0, 8.0 - 4.0 * d + 8.0 * (2.0 - squared) / (squared * root)));
    const double b = (a - 1.0) * (a - 1.0) / 4.0;
    const double c = a + b - 1.0;
    // X <- X (a + b X^T X)(1 + c X^T X)^-1 = (b/c) X + (a - b/c) X (1 + c X^T X)^-1
    const Eigen::LLT<Square> cholesky(identity + c * gram);
    Square solved = X.transpose();
    cholesky.solveInPlace(solved);
    X = (b / c) * X + (a - b / c) * solved.transpose();
    least = std::min(1.0, least * (a + b * squared) / (1.0 + c * squared));
  }
  return completed_polar_factor(matrix / norm);  // what counts as zero there is meant for that size
}
}  // namespace fedhur::linalg
