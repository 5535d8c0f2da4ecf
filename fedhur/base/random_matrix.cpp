#include "fedhur/base/random_matrix.hpp"

namespace fedhur {
Matrix normal_matrix(Index rows, Index cols, Real std, Rng rng) {
  Matrix result(rows, cols);
  for (Index i = 0; i < result.size(); ++i) {
    result.data()[i] = std * static_cast<Real>(rng.normal());
  }
  return result;
}

Matrix uniform_matrix(Index rows, Index cols, Real limit, Rng rng) {
  Matrix result(rows, cols);
  for (Index i = 0; i < result.size(); ++i) {
    result.data()[i] = limit * static_cast<Real>(2.0 * rng.uniform() - 1.0);
  }
  return result;
}
}  // namespace fedhur
