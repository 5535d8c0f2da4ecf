// The items that add most to the score of every item, small enough to be kept of every round.
#pragma once
#include "fedhur/base/named_arrays.hpp"

namespace fedhur::server {
inline constexpr Index kNearestItems = 10;

// From the columns of a filter, as arrays with a row per item: "neighbor_items", the largest weight
// first and equal ones by the lower index, and "neighbor_weights". Weights above 0 only; what is
// left of a row are the item -1 and the weight 0.
void put_neighbors(NamedArrays& arrays, const SparseMatrix<Real>& filter);
}  // namespace fedhur::server
