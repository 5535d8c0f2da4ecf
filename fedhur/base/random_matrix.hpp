// Matrices of random numbers.
#pragma once
#include "fedhur/base/matrix.hpp"
#include "fedhur/base/random.hpp"

namespace fedhur {
// Independent N(0, std^2) entries, filled row by row.
[[nodiscard]] Matrix normal_matrix(Index rows, Index cols, Real std, Rng rng);
// Independent entries, uniform in [-limit, limit), filled row by row.
[[nodiscard]] Matrix uniform_matrix(Index rows, Index cols, Real limit, Rng rng);
}  // namespace fedhur
