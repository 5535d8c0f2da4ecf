// Clients that do not agree on what an item is: for studies of what relations between them are
// worth. A device of the simulation.
#pragma once
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/data/interactions.hpp"

namespace fedhur::data {
inline constexpr Index kConflictGroups = 10;

enum class ConflictKind : std::uint8_t {
  permuted,  // an id stands for another item of the same group
  apart,     // the items of the groups have other ids: two catalogues in one federation
};
constexpr auto names_of(ConflictKind) { return std::array{"permuted", "apart"}; }

struct ConflictConfig {
  double share = 0.0;  // of the clients
  ConflictKind kind = ConflictKind::permuted;
  Index num_groups = kConflictGroups;  // of the items; those that are concerned
};
void declare_settings(Settings& settings, ConflictConfig& config);

// Which clients see items differently from the others: the share of them, rounded, drawn by `rng`.
// Those of a smaller share are among those of a larger one.
[[nodiscard]] std::vector<bool> conflicting_clients(Index num_clients, double share,
                                                    const Rng& rng);

// The group of every item. Items are sorted by their number of rows and cut into bands of about 40;
// the items of a band are dealt to the groups at random. So all groups have items of any
// popularity, and a band's part of a group has items of similar popularity.
[[nodiscard]] std::vector<Index> deal_item_groups(const Dataset& dataset, const Rng& rng);

// The id that a conflicting client has for every item. `permuted`: within the first `num_groups`
// groups, the items of a band change places in a cycle, so that popularity stays about what it is.
// An item that is alone in its band's part of a group keeps its place. `apart`: ids from num_items
// on, in the order of the items.
[[nodiscard]] std::vector<ItemId> conflicting_ids(const Dataset& dataset,
                                                  const ConflictConfig& config, const Rng& rng);

struct Conflicts {
  std::vector<bool> clients = {};  // whether each is one of those; empty without any
  Index num_items = 0;             // that have another id there
};
// Gives the rows of conflicting clients their ids. With a share of 0 nothing changes. With `apart`
// the data set has more items afterwards: "(2)" follows the name of each.
Conflicts add_conflicts(Dataset& dataset, const std::vector<ClientId>& user_clients,
                        const ConflictConfig& config, const Rng& rng);
}  // namespace fedhur::data
