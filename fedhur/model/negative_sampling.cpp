#include "fedhur/model/negative_sampling.hpp"

namespace fedhur::model {
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
