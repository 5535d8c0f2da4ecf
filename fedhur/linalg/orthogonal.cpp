#include "fedhur/linalg/orthogonal.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/error.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::linalg {
namespace {
using Square = MatrixOf<double>;

// One step of Cholesky QR: the columns become orthonormal up to the square of their condition
// number. Returns the smallest pivot: 1 means they were orthogonal before; 0 that the step could
// not be done and left `tall` as it was.
double cholesky_step(Matrix& tall) {
  Square gram = (tall.transpose() * tall).cast<double>();
  const Eigen::VectorXd norms = gram.diagonal().cwiseSqrt();
  if (!(norms.minCoeff() > 0.0)) return 0.0;
  const Eigen::VectorXd scales = norms.cwiseInverse();
  gram = scales.asDiagonal() * gram * scales.asDiagonal();
  const Eigen::LLT<Square> cholesky(gram);
  if (cholesky.info() != Eigen::Success) return 0.0;
  const double pivot = cholesky.matrixLLT().diagonal().minCoeff();
  constexpr double kLeastPivot = 1e-2;  // below, rounding in the Gram matrix takes over
  if (pivot < kLeastPivot) return 0.0;
  Square inverse = Square::Identity(tall.cols(), tall.cols());
  cholesky.matrixU().solveInPlace(inverse);  // L^-T
  const Matrix transform = (scales.asDiagonal() * inverse).cast<Real>();
  tall = Matrix(tall * transform);
  return pivot;
}

// By eigenvectors of the Gram matrix: slower, but finds out which directions are none.
void eigen_step(Matrix& tall) {
  const EigenPairs pairs = eigen_pairs((tall.transpose() * tall).cast<double>());
  constexpr double kLeastShare = 1e-11;
  Square transform = Square::Zero(tall.cols(), tall.cols());
  for (Index i = 0; i < tall.cols(); ++i) {
    const double value = pairs.values(i);
    if (value <= 0.0 || value <= kLeastShare * pairs.values(0)) break;
    transform.col(i) = pairs.vectors.col(i) / std::sqrt(value);
  }
  tall = (tall.cast<double>() * transform).cast<Real>();
}

// Directions of a few units in the last place are rounding, not directions.
void drop_noise(Matrix& tall, const Eigen::VectorXd& norms_before) {
  for (Index i = 0; i < tall.cols(); ++i) {
    if (norms_before(i) < 0.5) tall.col(i).setZero();
  }
}
}  // namespace

Matrix orthonormalize(Matrix tall) {
  if (tall.cols() == 0) return tall;
  constexpr double kGoodPivot = 0.7;
  double pivot = cholesky_step(tall);
  if (pivot == 0.0) {
    // Columns of very different length first: the Gram matrix in double of unit columns.
    for (Index i = 0; i < tall.cols(); ++i) {
      const double norm = tall.col(i).cast<double>().norm();
      if (norm > 0.0) tall.col(i) /= static_cast<Real>(norm);
    }
    eigen_step(tall);
    const Eigen::VectorXd norms = tall.cast<double>().colwise().norm();
    drop_noise(tall, norms);
    eigen_step(tall);  // once more: the first was only as good as its Gram matrix
    return tall;
  }
  while (pivot > 0.0 && pivot < kGoodPivot) pivot = cholesky_step(tall);
  return tall;
}

MatrixOf<double> polar_factor(const MatrixOf<double>& matrix) {
  expects(matrix.rows() == matrix.cols(), "a rotation is square");
  const Index size = matrix.rows();
  const double norm = matrix.norm();
  if (!(norm > 0.0)) return Square::Identity(size, size);
  // Dynamically weighted Halley iteration: singular values in [least, 1] go to 1 in about six
  // steps, each a Cholesky factorisation. Nothing but the speed depends on the guess of `least`.
  Square X = matrix / norm;
  double least = 1e-7;
  const Square identity = Square::Identity(size, size);
  constexpr int kMaxSteps = 24;
  for (int step = 0; step < kMaxSteps; ++step) {
    const Square gram = X.transpose() * X;
    const double distance = (gram - identity).norm();
    if (distance < 1e-12 * static_cast<double>(size)) return X;
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
  // Singular, or nearly: the directions that the matrix says nothing about are completed.
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return svd.matrixU() * svd.matrixV().transpose();
}
}  // namespace fedhur::linalg
