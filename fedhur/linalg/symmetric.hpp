// Small symmetric matrices: eigenpairs in double, and the upper triangle as a row of numbers.
#pragma once
#include "fedhur/base/matrix.hpp"

namespace fedhur::linalg {
struct EigenPairs {
  Eigen::VectorXd values;    // descending
  MatrixOf<double> vectors;  // a column per value
};
[[nodiscard]] EigenPairs eigen_pairs(const MatrixOf<double>& symmetric);

// The largest eigenvalue of inherited + tall * tall^T (`inherited`, not negative, is added to every
// entry), from whichever of the two Gram matrices is smaller.
[[nodiscard]] double largest_eigenvalue(ConstMatrixRef tall, double inherited);

// The upper triangle row by row: size * (size + 1) / 2 numbers.
[[nodiscard]] constexpr Index packed_size(Index size) { return size * (size + 1) / 2; }
[[nodiscard]] Index side_of_packed(Index count);  // the size that has so many numbers
void pack(ConstMatrixRef symmetric, Real* packed);
[[nodiscard]] Matrix unpack(const Real* packed, Index size);
}  // namespace fedhur::linalg
