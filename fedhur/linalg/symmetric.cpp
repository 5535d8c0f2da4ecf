#include "fedhur/linalg/symmetric.hpp"

#include <cmath>

#include "fedhur/base/error.hpp"

namespace fedhur::linalg {
namespace {
using Columns = Eigen::MatrixXd;  // what the solver works in; one type, to compile it once
}  // namespace

EigenPairs eigen_pairs(const MatrixOf<double>& symmetric) {
  expects(symmetric.rows() == symmetric.cols(), "a symmetric matrix is square");
  if (symmetric.rows() == 0) return {};
  const Eigen::SelfAdjointEigenSolver<Columns> solver(Columns{symmetric});
  if (solver.info() != Eigen::Success) throw Error("the eigenvalues of a filter did not converge");
  return {.values = solver.eigenvalues().reverse(),
          .vectors = solver.eigenvectors().rowwise().reverse()};
}

double largest_eigenvalue(ConstMatrixRef tall, double inherited) {
  if (tall.rows() == 0) return 0.0;
  Matrix gram;
  if (tall.rows() <= tall.cols() + 1) {
    gram.noalias() = tall * tall.transpose();
    gram.array() += static_cast<Real>(inherited);
  } else {
    expects(inherited >= 0.0, "what is inherited is not negative");
    Matrix extended(tall.rows(), tall.cols() + 1);
    extended.leftCols(tall.cols()) = tall;
    extended.rightCols(1).setConstant(static_cast<Real>(std::sqrt(inherited)));
    gram.noalias() = extended.transpose() * extended;
  }
  const Eigen::SelfAdjointEigenSolver<Columns> solver(Columns{gram.cast<double>()},
                                                      Eigen::EigenvaluesOnly);
  return solver.eigenvalues()(gram.rows() - 1);
}

Index side_of_packed(Index count) {
  return (std::llround(std::sqrt(8.0 * static_cast<double>(count) + 1.0)) - 1) / 2;
}

void pack(ConstMatrixRef symmetric, Real* packed) {
  for (Index row = 0; row < symmetric.rows(); ++row) {
    for (Index col = row; col < symmetric.cols(); ++col) *packed++ = symmetric(row, col);
  }
}

Matrix unpack(const Real* packed, Index size) {
  Matrix symmetric(size, size);
  for (Index row = 0; row < size; ++row) {
    for (Index col = row; col < size; ++col) symmetric(row, col) = symmetric(col, row) = *packed++;
  }
  return symmetric;
}
}  // namespace fedhur::linalg
