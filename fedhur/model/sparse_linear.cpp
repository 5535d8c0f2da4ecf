#include "fedhur/model/sparse_linear.hpp"

namespace fedhur::model {
void SparseLinear::score(Index first_user, MatrixRef scores) const {
  scores.setZero();
  const auto& places = filter->places();
  const auto& values = filter->values();
  for (Index row = 0; row < scores.rows(); ++row) {
    for (const ItemId item : histories.of(first_user + row)) {
      const Index before = index_of(item) * filter->cols();
      const Index end = before + filter->cols();
      for (std::size_t e = filter->begin_of(index_of(item)); e < places.size() && places[e] < end;
           ++e) {
        scores(row, places[e] - before) += values[e];
      }
    }
  }
}
}  // namespace fedhur::model
