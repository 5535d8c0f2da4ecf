// Training samples: pairs with a label, and triples of a user, an item it has and one it has not.
#pragma once
#include <cstdint>
#include <vector>

#include "fedhur/base/matrix.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/data/interactions.hpp"

namespace fedhur::model {
struct LabelledPair {
  std::int32_t user;
  std::int32_t item;
  Real label;  // 1 or 0
};

// Scheme P: every training interaction, each followed by `negatives` different items outside the
// user's list, drawn anew for each interaction; fewer where fewer items are left. Users in order.
[[nodiscard]] std::vector<LabelledPair> draw_labelled_pairs(const data::UserItems& train,
                                                            Index num_items, Index negatives,
                                                            Rng rng);

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
