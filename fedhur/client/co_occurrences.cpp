#include "fedhur/client/co_occurrences.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace fedhur::client {
std::int64_t user_weight(std::size_t num_items, double activity_exponent) {
  if (num_items == 0) return 0;
  const double share = std::pow(static_cast<double>(num_items), -activity_exponent);
  return static_cast<std::int64_t>(std::floor(static_cast<double>(kWholeUser) * share + 0.5));
}

data::UserItems draw_items(const data::UserItems& users, Index most_items, ClientId client,
                           const Rng& rng) {
  std::vector<std::vector<ItemId>> lists;
  for (Index user = 0; user < users.num_users(); ++user) {
    const auto items = users.of(user);
    std::vector<ItemId> drawn(items.begin(), items.end());
    if (most_items > 0 && std::ssize(drawn) > most_items) {
      rng.stream(Draw::counted_items, client, user).shuffle(std::span(drawn));
      drawn.resize(static_cast<std::size_t>(most_items));
    }
    lists.push_back(std::move(drawn));
  }
  return data::UserItems(lists);
}

namespace {
// Who has an item, and where in the user's list it stands.
struct Holder {
  Index user;
  std::size_t position;
};

std::vector<std::vector<Holder>> find_holders(const data::UserItems& users, Index num_items) {
  std::vector<std::vector<Holder>> holders(static_cast<std::size_t>(num_items));
  for (Index user = 0; user < users.num_users(); ++user) {
    const auto items = users.of(user);
    for (std::size_t position = 0; position < items.size(); ++position) {
      holders[data::slot(items[position])].push_back({user, position});
    }
  }
  return holders;
}
}  // namespace

SparseMatrix<std::int64_t> count_co_occurrences(const data::UserItems& users, Index num_items,
                                                double activity_exponent) {
  std::vector<std::int64_t> weights;
  for (Index user = 0; user < users.num_users(); ++user) {
    weights.push_back(user_weight(users.of(user).size(), activity_exponent));
  }
  const auto holders = find_holders(users, num_items);
  SparseMatrix<std::int64_t> counts(num_items, num_items);
  std::vector<std::int64_t> sums(static_cast<std::size_t>(num_items), 0);  // of the row at hand
  std::vector<ItemId> met;
  for (Index item = 0; item < num_items; ++item) {
    for (const Holder& holder : holders[static_cast<std::size_t>(item)]) {
      const std::int64_t weight = weights[static_cast<std::size_t>(holder.user)];
      if (weight == 0) continue;
      for (const ItemId other : users.of(holder.user).subspan(holder.position)) {
        std::int64_t& sum = sums[data::slot(other)];
        if (sum == 0) met.push_back(other);
        sum += weight;
      }
    }
    std::ranges::sort(met);
    for (const ItemId other : met) {
      counts.append(item, index_of(other), sums[data::slot(other)]);
      sums[data::slot(other)] = 0;
    }
    met.clear();
  }
  return counts;
}
}  // namespace fedhur::client
