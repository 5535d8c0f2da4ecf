// Users sorted by taste, to simulate clients that differ from each other.
#pragma once
#include <vector>

#include "fedhur/base/random.hpp"
#include "fedhur/data/interactions.hpp"

namespace fedhur::data {
// Spherical k-means on the users' sets of items: the group of every user, below num_groups. A group
// may stay empty.
[[nodiscard]] std::vector<Index> group_by_taste(const Dataset& dataset, Index num_groups, Rng rng);
}  // namespace fedhur::data
