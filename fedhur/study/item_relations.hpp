// The paper's figure on the relation hierarchy of an item: the groups it belongs to, from coarse to
// fine, and who helps a client in each of them.
#pragma once
#include <string>
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/ids.hpp"

namespace fedhur::study {
struct Helper {
  Index client = 0;
  double weight = 0.0;  // of its filter in this client's, alpha; all weights of a step sum to one
};

// One level of the way down to the item.
struct ItemStep {
  Index level = 0;  // from 0
  Index num_siblings = 0;
  std::vector<std::string> items;  // of the group, by training rows; at most eight
  Index num_items = 0;             // of the group
  std::vector<Helper> helpers;     // of the scope that the group is in; the five largest weights
  double entropy = 0.0;            // of all weights, as a share of the largest possible
};

struct ItemRelations {
  std::string item;
  Index client = 0;
  Index num_clients = 0;
  Round round = 0;  // 1-based
  std::vector<ItemStep> steps;
};

// Trains FedHUR with the settings of `table` and looks at the round `round` (1-based). `item` is an
// item's id or title in the source; empty takes the one with the most training rows. ConfigError
// that names the nearest one if there is none, and for a client that does not exist.
[[nodiscard]] ItemRelations find_item_relations(const ConfigTable& table, const std::string& item,
                                                Index client, Round round);

[[nodiscard]] std::string to_markdown(const ItemRelations& relations);
[[nodiscard]] std::string to_csv(const ItemRelations& relations);
[[nodiscard]] std::string to_json(const ItemRelations& relations);
}  // namespace fedhur::study
