// Item groups from coarse to fine, from the global item embeddings.
#pragma once
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/parallel.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/linalg/item_hierarchy.hpp"

namespace fedhur::server {
struct ItemHierarchyConfig {
  std::vector<Index> branching = {8, 4};  // M_l
  bool ends_with_items = true;            // whether the last level's members are the single items
  Index leaf_items = 53;
  Index largest_group = 0;
  Index max_steps = 25;
};
void declare_settings(Settings& settings, ItemHierarchyConfig& config);

// The configured branching, or all of it enlarged by one factor where the groups of the last level
// would hold more than leaf_items items on average. 0 leaves it as configured.
[[nodiscard]] std::vector<Index> adapt_branching(const ItemHierarchyConfig& config,
                                                 Index num_items);

// k-means on the rows of E_g, scaled to unit length (without that, one giant group of unpopular
// items appears). A group smaller than the branching is divided into its items. On data with a
// long tail such as MovieLens 1M giant groups appear all the same, and a residual of m items has
// m^2/2 numbers: a last group with more than largest_group items is cut into halves until none of
// them has more than leaf_items.
[[nodiscard]] linalg::ItemHierarchy build_item_hierarchy(Matrix global_item_embeddings,
                                                         const ItemHierarchyConfig& config, Rng rng,
                                                         const Executor& executor);
}  // namespace fedhur::server
