#include "fedhur/data/conflicts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fedhur/base/error.hpp"
#include "fedhur/base/settings.hpp"

namespace fedhur::data {
namespace {
constexpr std::size_t kItemsPerCycle = 4;  // about; of a band and a group

// What streams are for.
enum class ConflictUse : std::uint64_t { clients = 0, items = 1 };

using Items = std::vector<std::size_t>;

Items items_by_popularity(const Dataset& dataset) {
  std::vector<Index> counts(dataset.item_names.size(), 0);
  for (const Interaction& row : dataset.interactions) ++counts[slot(row.item)];
  Items items(counts.size());
  std::iota(items.begin(), items.end(), std::size_t{0});
  std::ranges::stable_sort(items, std::ranges::greater{},
                           [&](std::size_t item) { return counts[item]; });
  return items;
}

// Bands of similar popularity, each in random order: place p of a band is in group p modulo
// kConflictGroups.
std::vector<Items> shuffled_bands(const Dataset& dataset, const Rng& rng) {
  Items items = items_by_popularity(dataset);
  Rng draws = rng.stream(Draw::conflicts, ConflictUse::items);
  const std::size_t num_bands =
      std::max<std::size_t>(1, items.size() / (kItemsPerCycle * kConflictGroups));
  std::vector<Items> bands;
  for (std::size_t band = 0; band < num_bands; ++band) {
    const auto place = [&](std::size_t b) {
      return items.begin() + static_cast<std::ptrdiff_t>(b * items.size() / num_bands);
    };
    Items& members = bands.emplace_back(place(band), place(band + 1));
    draws.shuffle(std::span(members));
  }
  return bands;
}

std::vector<ItemId> own_ids(std::size_t num_items) {
  std::vector<ItemId> ids;
  for (std::size_t item = 0; item < num_items; ++item) {
    ids.push_back(item_id(static_cast<Index>(item)));
  }
  return ids;
}

std::vector<ItemId> permute_groups(const Dataset& dataset, Index num_groups, const Rng& rng) {
  std::vector<ItemId> ids = own_ids(dataset.item_names.size());
  for (const Items& band : shuffled_bands(dataset, rng)) {
    for (std::size_t group = 0; group < static_cast<std::size_t>(num_groups); ++group) {
      for (std::size_t place = group; place < band.size(); place += kConflictGroups) {
        const std::size_t next = place + kConflictGroups;
        const std::size_t other = band[next < band.size() ? next : group];
        ids[band[place]] = item_id(static_cast<Index>(other));
      }
    }
  }
  return ids;
}

std::vector<ItemId> move_groups_apart(const Dataset& dataset, Index num_groups, const Rng& rng) {
  std::vector<ItemId> ids = own_ids(dataset.item_names.size());
  const auto groups = deal_item_groups(dataset, rng);
  Index next = dataset.num_items();
  for (std::size_t item = 0; item < ids.size(); ++item) {
    if (groups[item] < num_groups) ids[item] = item_id(next++);
  }
  return ids;
}
}  // namespace

void declare_settings(Settings& settings, ConflictConfig& config) {
  settings.add("conflict.clients", config.share, between(0, 1),
               "simulations only: the share of the clients that see items differently from the "
               "others, all of them in the same way ([how](commands.md#data))");
  settings.add("conflict.kind", config.kind,
               "`permuted`: there an id stands for another item of its group and of similar "
               "popularity. `apart`: the items have other ids there, as in two domains");
  settings.add("conflict.groups", config.num_groups, between(1, kConflictGroups),
               "how many of ten random groups of items this concerns; all groups have items of any "
               "popularity");
}

std::vector<bool> conflicting_clients(Index num_clients, double share, const Rng& rng) {
  std::vector<std::size_t> order(static_cast<std::size_t>(num_clients));
  std::iota(order.begin(), order.end(), std::size_t{0});
  rng.stream(Draw::conflicts, ConflictUse::clients).shuffle(std::span(order));
  order.resize(static_cast<std::size_t>(std::llround(share * static_cast<double>(num_clients))));
  std::vector<bool> are_conflicting(static_cast<std::size_t>(num_clients), false);
  for (const std::size_t client : order) are_conflicting[client] = true;
  return are_conflicting;
}

std::vector<Index> deal_item_groups(const Dataset& dataset, const Rng& rng) {
  std::vector<Index> groups(dataset.item_names.size());
  for (const Items& band : shuffled_bands(dataset, rng)) {
    for (std::size_t place = 0; place < band.size(); ++place) {
      groups[band[place]] = static_cast<Index>(place) % kConflictGroups;
    }
  }
  return groups;
}

std::vector<ItemId> conflicting_ids(const Dataset& dataset, const ConflictConfig& config,
                                    const Rng& rng) {
  validate(config);
  return config.kind == ConflictKind::permuted ? permute_groups(dataset, config.num_groups, rng)
                                               : move_groups_apart(dataset, config.num_groups, rng);
}

Conflicts add_conflicts(Dataset& dataset, const std::vector<ClientId>& user_clients,
                        const ConflictConfig& config, const Rng& rng) {
  expects(user_clients.size() == dataset.user_names.size(), "every user has a client");
  validate(config);
  if (config.share == 0.0 || user_clients.empty()) return {};
  const auto ids = conflicting_ids(dataset, config, rng);
  Conflicts conflicts = {.clients = conflicting_clients(
                             index_of(std::ranges::max(user_clients)) + 1, config.share, rng)};
  for (Interaction& row : dataset.interactions) {
    if (conflicts.clients[slot(user_clients[slot(row.user)])]) row.item = ids[slot(row.item)];
  }
  const auto num_items = dataset.item_names.size();
  for (std::size_t item = 0; item < num_items; ++item) {
    if (slot(ids[item]) != item) ++conflicts.num_items;
    if (slot(ids[item]) < num_items) continue;
    dataset.item_names.push_back(dataset.item_names[item] + " (2)");
    dataset.item_titles.push_back(dataset.item_titles[item]);
  }
  return conflicts;
}
}  // namespace fedhur::data
