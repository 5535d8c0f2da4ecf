// The decompositions that tests compare with, by the solvers of Eigen. They live here alone: these
// templates take longer to compile than the tests that need them.
#pragma once
#include <Eigen/Dense>

namespace fedhur::tests {
struct EigenPairs {
  Eigen::VectorXd values;  // ascending
  Eigen::MatrixXd vectors;
};
[[nodiscard]] EigenPairs eigen_pairs(const Eigen::MatrixXd& symmetric);
[[nodiscard]] double largest_eigenvalue(const Eigen::MatrixXd& symmetric);

struct Svd {  // U diag(values) V^T, no wider than the matrix has sides
  Eigen::MatrixXd U;
  Eigen::VectorXd values;  // descending
  Eigen::MatrixXd V;
};
[[nodiscard]] Svd svd(const Eigen::MatrixXd& matrix);
// U V^T: of all orthogonal matrices one that is nearest.
[[nodiscard]] Eigen::MatrixXd orthogonal_factor(const Eigen::MatrixXd& square);
}  // namespace fedhur::tests
