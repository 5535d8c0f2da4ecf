#include "tests/support/decompositions.hpp"

namespace fedhur::tests {
EigenPairs eigen_pairs(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
  return {.values = solver.eigenvalues(), .vectors = solver.eigenvectors()};
}

double largest_eigenvalue(const Eigen::MatrixXd& symmetric) {
  return eigen_pairs(symmetric).values(symmetric.rows() - 1);
}

Svd svd(const Eigen::MatrixXd& matrix) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> solver(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {.U = solver.matrixU(), .values = solver.singularValues(), .V = solver.matrixV()};
}

Eigen::MatrixXd orthogonal_factor(const Eigen::MatrixXd& square) {
  const Svd parts = svd(square);
  return parts.U * parts.V.transpose();
}
}  // namespace fedhur::tests
