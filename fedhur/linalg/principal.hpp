// Principal directions of the rows of a table, and the angles between the spaces they span.
#pragma once
#include "fedhur/base/matrix.hpp"

namespace fedhur::linalg {
// The rows minus their mean.
[[nodiscard]] MatrixOf<double> centre_rows(const Matrix& table);

// The leading principal directions, one per column and orthonormal, each up to its sign.
[[nodiscard]] MatrixOf<double> principal_directions(const Matrix& table, Index count);
// The same of a list in which row i of the table occurs so many times; at least one does.
[[nodiscard]] MatrixOf<double> principal_directions(const Matrix& table,
                                                    const Eigen::VectorXd& occurrences,
                                                    Index count);

// An orthonormal basis of what the columns span, exact in double whatever precision they came in.
// Fewer columns where they depend on each other.
[[nodiscard]] MatrixOf<double> exact_basis(const Matrix& columns);

// Of all principal angles between the spaces of two orthonormal bases with this overlap A^T B;
// between 0 and pi/2. Neither signs nor the order of columns matter.
[[nodiscard]] double mean_principal_angle(const MatrixOf<double>& overlap);
}  // namespace fedhur::linalg
