// Training samples: a user, an item it has and one it has not.
#pragma once
#include <cstdint>
#include <vector>

#include "fedhur/base/random.hpp"
#include "fedhur/data/interactions.hpp"

namespace fedhur::model {
struct Triple {
  std::int32_t user;
  std::int32_t positive;
  std::int32_t negative;
};

// Scheme T: as many draws as there are training interactions; a user at random, one of its items,
// and an item outside its list. Draws of users with no item, or with every item, are dropped.
[[nodiscard]] std::vector<Triple> draw_triples(const data::UserItems& train, Index num_items,
                                               Rng rng);
}  // namespace fedhur::model
