// Orthonormal bases of tall tables, and the rotation that brings one table nearest to another.
#pragma once
#include "fedhur/base/matrix.hpp"

namespace fedhur::linalg {
// Columns that are orthonormal and span what the columns of `tall` span. Where those are dependent,
// the last columns of the result are zero.
[[nodiscard]] Matrix orthonormalize(Matrix tall);
// The same as a transform: tall * orthonormalizer(tall) has orthonormal columns, as many as `tall`
// has independent ones up to rounding.
[[nodiscard]] MatrixOf<double> orthonormalizer(ConstMatrixRef tall);

// The orthogonal factor of a matrix that is not wide: the O with O^T O = I that is nearest to it,
// and that makes ||T O^T - E|| least for matrix = E^T T. Where the matrix is singular one of the
// many is taken.
[[nodiscard]] MatrixOf<double> polar_factor(const MatrixOf<double>& matrix);
}  // namespace fedhur::linalg
