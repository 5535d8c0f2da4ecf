#include "fedhur/server/item_hierarchy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fedhur/linalg/kmeans.hpp"
#include "fedhur/linalg/normalize.hpp"

namespace fedhur::server {
void read_settings(ConfigTable& table, ItemHierarchyConfig& config) {
  ConfigSection section(table, "hierarchy");
  std::vector<ConfigScalar> branching;
  for (const Index count : config.branching) branching.emplace_back(std::int64_t{count});
  if (config.ends_with_items) branching.emplace_back(std::string("items"));
  section.read("branching", branching);
  constexpr const char* kExpected =
      "a list of numbers from 1 to 65536, such as [8, 4, \"items\"], in which only the last may be "
      "\"items\"";
  config.branching.clear();
  config.ends_with_items = false;
  section.require(!branching.empty() && branching.size() <= 16, "branching", kExpected);
  for (const ConfigScalar& entry : branching) {
    section.require(!config.ends_with_items, "branching", kExpected);
    if (const auto* count = std::get_if<std::int64_t>(&entry)) {
      section.require(*count >= 1 && *count <= 65536, "branching", kExpected);
      config.branching.push_back(*count);
    } else {
      const auto* word = std::get_if<std::string>(&entry);
      section.require(word != nullptr && *word == "items", "branching", kExpected);
      config.ends_with_items = true;
    }
  }
  section.read("leaf_items", config.leaf_items);
  section.require(config.leaf_items >= 0, "leaf_items", "a number of 0 or more");
  section.read("max_steps", config.max_steps);
  section.require(config.max_steps >= 1, "max_steps", "a number of 1 or more");
}

std::vector<Index> adapt_branching(const ItemHierarchyConfig& config, Index num_items) {
  std::vector<Index> branching = config.branching;
  if (config.leaf_items == 0 || branching.empty()) return branching;
  double num_groups = 1.0;
  for (const Index count : branching) num_groups *= static_cast<double>(count);
  const double growth =
      static_cast<double>(num_items) / static_cast<double>(config.leaf_items) / num_groups;
  if (growth <= 1.0) return branching;
  const double factor = std::pow(growth, 1.0 / static_cast<double>(branching.size()));
  for (Index& count : branching) {
    count = std::max<Index>(count, std::llround(static_cast<double>(count) * factor));
  }
  return branching;
}

linalg::ItemHierarchy build_item_hierarchy(Matrix global_item_embeddings,
                                           const ItemHierarchyConfig& config, Rng rng,
                                           const Executor& executor) {
  Matrix& rows = global_item_embeddings;
  linalg::normalize_rows(rows);
  const Index num_items = rows.rows();
  const std::vector<Index> branching = adapt_branching(config, num_items);
  MatrixOf<std::int32_t> members =
      MatrixOf<std::int32_t>::Zero(num_items, static_cast<Index>(branching.size()));
  std::vector<std::vector<Index>> groups(1,
                                         std::vector<Index>(static_cast<std::size_t>(num_items)));
  std::iota(groups[0].begin(), groups[0].end(), Index{0});
  for (std::size_t level = 0; level < branching.size(); ++level) {
    std::vector<std::vector<std::vector<Index>>> parts(groups.size());
    executor.for_each(static_cast<Index>(groups.size()), [&](Index g) {
      const auto& items = groups[static_cast<std::size_t>(g)];
      const auto size = static_cast<Index>(items.size());
      std::vector<Index> assigned(items.size());
      if (size <= branching[level]) {
        std::iota(assigned.begin(), assigned.end(), Index{0});
      } else {
        assigned = linalg::group_rows(rows(items, Eigen::all), branching[level], config.max_steps,
                                      rng.stream(Draw::clustering, level, g));
      }
      auto& own = parts[static_cast<std::size_t>(g)];
      own.resize(static_cast<std::size_t>(std::min(size, branching[level])));
      for (std::size_t i = 0; i < items.size(); ++i) {
        members(items[i], static_cast<Index>(level)) = static_cast<std::int32_t>(assigned[i]);
        own[static_cast<std::size_t>(assigned[i])].push_back(items[i]);
      }
    });
    groups.clear();
    for (auto& own : parts) std::move(own.begin(), own.end(), std::back_inserter(groups));
  }
  return linalg::from_table(
      {.members = std::move(members), .ends_with_items = config.ends_with_items});
}
}  // namespace fedhur::server
