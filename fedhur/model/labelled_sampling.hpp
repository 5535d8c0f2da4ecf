// Training samples: a user, an item, and whether the user has it.
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
}  // namespace fedhur::model
