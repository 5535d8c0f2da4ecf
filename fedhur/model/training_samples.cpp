#include "fedhur/model/training_samples.hpp"

#include <algorithm>

namespace fedhur::model {
namespace {
// The item with `rank` items before it that are not in the sorted list, and not in it itself.
Index absent_item(std::span<const ItemId> items, Index rank) {
  Index first = 0;
  Index last = static_cast<Index>(items.size());
  while (first < last) {  // how many listed items come before it
    const Index middle = first + (last - first) / 2;
    const bool is_before = index_of(items[static_cast<std::size_t>(middle)]) - middle <= rank;
    (is_before ? first : last) = is_before ? middle + 1 : middle;
  }
  return rank + first;
}

// A uniform subset of `count` out of 0 .. bound - 1 without rejection (Floyd).
void draw_subset(Index count, Index bound, Rng& rng, std::vector<Index>& subset) {
  subset.clear();
  for (Index top = bound - count; top < bound; ++top) {
    const auto drawn = static_cast<Index>(rng.below(static_cast<std::uint64_t>(top) + 1));
    const bool is_new = std::find(subset.begin(), subset.end(), drawn) == subset.end();
    subset.push_back(is_new ? drawn : top);
  }
}
}  // namespace

std::vector<LabelledPair> draw_labelled_pairs(const data::UserItems& train, Index num_items,
                                              Index negatives, Rng rng) {
  std::vector<LabelledPair> pairs;
  std::vector<Index> ranks;
  for (Index user = 0; user < train.num_users(); ++user) {
    const auto items = train.of(user);
    const Index num_absent = num_items - static_cast<Index>(items.size());
    for (const ItemId positive : items) {
      pairs.push_back({static_cast<std::int32_t>(user), static_cast<std::int32_t>(positive), 1.0F});
      draw_subset(std::min(negatives, num_absent), num_absent, rng, ranks);
      for (const Index rank : ranks) {
        pairs.push_back({static_cast<std::int32_t>(user),
                         static_cast<std::int32_t>(absent_item(items, rank)), 0.0F});
      }
    }
  }
  return pairs;
}

std::vector<Triple> draw_triples(const data::UserItems& train, Index num_items, Rng rng) {
  std::vector<Triple> triples;
  triples.reserve(static_cast<std::size_t>(train.size()));
  const auto num_users = static_cast<std::uint64_t>(train.num_users());
  for (Index draw = 0; draw < train.size(); ++draw) {
    const auto user = static_cast<Index>(rng.below(num_users));
    const auto items = train.of(user);
    if (items.empty() || static_cast<Index>(items.size()) >= num_items) continue;
    const ItemId positive = items[rng.below(items.size())];
    ItemId negative{};
    do {
      negative = item_id(static_cast<Index>(rng.below(static_cast<std::uint64_t>(num_items))));
    } while (train.contains(user, negative));
    triples.push_back({static_cast<std::int32_t>(user), static_cast<std::int32_t>(positive),
                       static_cast<std::int32_t>(negative)});
  }
  return triples;
}
}  // namespace fedhur::model
