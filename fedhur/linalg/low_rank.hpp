// A tall table in fewer numbers: the best approximation of a given rank.
#pragma once
#include "fedhur/base/matrix.hpp"

namespace fedhur::linalg {
struct LowRank {       // E ~ X C
  Matrix coordinates;  // X, a row per row of E
  Matrix directions;   // C, orthonormal rows
};

// Of all tables of this rank the one nearest to `tall` (finite; 1 <= rank <= its columns), by the
// eigenvectors of its Gram matrix in double.
[[nodiscard]] LowRank truncate(ConstMatrixRef tall, Index rank);
[[nodiscard]] Matrix expand(ConstMatrixRef coordinates, ConstMatrixRef directions);  // X C
}  // namespace fedhur::linalg
