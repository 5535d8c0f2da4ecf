#include "fedhur/server/item_neighbors.hpp"

namespace fedhur::server {
void put_neighbors(NamedArrays& arrays, const SparseMatrix<Real>& filter) {
  MatrixOf<std::int32_t> items = MatrixOf<std::int32_t>::Constant(filter.cols(), kNearestItems, -1);
  Matrix weights = Matrix::Zero(filter.cols(), kNearestItems);
  // Entries come by rising row, so whoever is there stays before an equal one.
  for (std::size_t e = 0; e < filter.num_entries(); ++e) {
    const Index item = filter.col_of(e);
    const Real weight = filter.values()[e];
    if (!(weight > weights(item, kNearestItems - 1))) continue;
    Index place = kNearestItems - 1;
    for (; place > 0 && weight > weights(item, place - 1); --place) {
      weights(item, place) = weights(item, place - 1);
      items(item, place) = items(item, place - 1);
    }
    weights(item, place) = weight;
    items(item, place) = static_cast<std::int32_t>(filter.row_of(e));
  }
  arrays.set("neighbor_items", std::move(items));
  arrays.set("neighbor_weights", std::move(weights));
}
}  // namespace fedhur::server
