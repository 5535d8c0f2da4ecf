#include "fedhur/server/item_groups.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include "fedhur/base/settings.hpp"
#include "fedhur/linalg/kmeans.hpp"
#include "fedhur/linalg/normalize.hpp"
#include "fedhur/linalg/principal.hpp"

namespace fedhur::server {
namespace {
using Groups = std::vector<std::vector<Index>>;

// The group in equal halves across its widest direction, these in halves again, until none holds
// more than `largest` items.
Groups halve(const Matrix& rows, std::vector<Index> items, Index largest) {
  if (static_cast<Index>(items.size()) <= largest) return {std::move(items)};
  const Matrix own = rows(items, Eigen::all);
  const Eigen::VectorXd places = own.cast<double>() * linalg::principal_directions(own, 1);
  std::vector<std::pair<double, Index>> order;
  for (std::size_t i = 0; i < items.size(); ++i) {
    order.emplace_back(places(static_cast<Index>(i)), items[i]);
  }
  std::ranges::sort(order);
  const std::size_t middle = (items.size() + 1) / 2;
  Groups parts;
  for (const auto& half : {std::span(order).first(middle), std::span(order).subspan(middle)}) {
    std::vector<Index> chosen;
    for (const auto& [place, item] : half) chosen.push_back(item);
    std::ranges::sort(chosen);
    std::ranges::move(halve(rows, std::move(chosen), largest), std::back_inserter(parts));
  }
  return parts;
}

Groups divide(const Matrix& rows, const std::vector<Index>& items, Index num_groups,
              Index max_steps, const Rng& rng) {
  const auto size = static_cast<Index>(items.size());
  std::vector<Index> assigned(items.size());
  if (size <= num_groups) {
    std::iota(assigned.begin(), assigned.end(), Index{0});
  } else {
    assigned = linalg::group_rows(rows(items, Eigen::all), num_groups, max_steps, rng);
  }
  Groups parts(static_cast<std::size_t>(std::min(size, num_groups)));
  for (std::size_t i = 0; i < items.size(); ++i) {
    parts[static_cast<std::size_t>(assigned[i])].push_back(items[i]);
  }
  return parts;
}

Groups cut_giants(const Matrix& rows, Groups groups, const ItemHierarchyConfig& config) {
  const Index largest = config.largest_group;
  const Index target = config.leaf_items > 0 ? std::min(config.leaf_items, largest) : largest;
  Groups parts;
  for (auto& items : groups) {
    const bool is_giant = static_cast<Index>(items.size()) > largest;
    std::ranges::move(is_giant ? halve(rows, std::move(items), target) : Groups{std::move(items)},
                      std::back_inserter(parts));
  }
  return parts;
}
}  // namespace

void declare_settings(Settings& settings, ItemHierarchyConfig& config) {
  std::vector<ConfigScalar> branching(config.branching.begin(), config.branching.end());
  if (config.ends_with_items) branching.emplace_back("items");
  const auto is_allowed = [](std::span<const ConfigScalar> entries) {
    return !entries.empty() && entries.size() <= 16 &&
           std::ranges::all_of(entries, [&](const ConfigScalar& entry) {
             const auto* count = std::get_if<std::int64_t>(&entry);
             return count != nullptr ? *count >= 1 && *count <= 65536
                                     : &entry == &entries.back() && entry == ConfigScalar("items");
           });
  };
  settings.add_list(
      "hierarchy.branching", branching,
      "a list of numbers from 1 to 65536, such as [8, 4, \"items\"], in which only the last may be "
      "\"items\"",
      is_allowed,
      "groups that each group is divided into, level by level; L is the length of the list", "M_l");
  config.ends_with_items = std::holds_alternative<std::string>(branching.back());
  if (config.ends_with_items) branching.pop_back();
  config.branching.clear();
  for (const ConfigScalar& count : branching) {
    config.branching.push_back(std::get<std::int64_t>(count));
  }
  settings.add("hierarchy.leaf_items", config.leaf_items, at_least(0),
               "branching grows with the catalogue until the last groups are about this small; 0: "
               "never. The download of R_k is about n (leaf_items + 1)/2 numbers");
  settings.add(
      "hierarchy.largest_group", config.largest_group, at_least(0),
      "a last group with more items is cut in halves until none has more than `leaf_items`; 0: "
      "never. For data whose rare items all look alike, such as MovieLens 1M");
  settings.add("hierarchy.max_steps", config.max_steps, at_least(1), "of k-means");
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
  Groups groups(1, std::vector<Index>(static_cast<std::size_t>(num_items)));
  std::iota(groups[0].begin(), groups[0].end(), Index{0});
  for (std::size_t level = 0; level < branching.size(); ++level) {
    const bool is_last = level + 1 == branching.size();
    std::vector<Groups> parts(groups.size());
    executor.for_each(static_cast<Index>(groups.size()), [&](Index g) {
      Groups& own = parts[static_cast<std::size_t>(g)];
      own = divide(rows, groups[static_cast<std::size_t>(g)], branching[level], config.max_steps,
                   rng.stream(Draw::clustering, level, g));
      if (is_last && config.largest_group > 0) own = cut_giants(rows, std::move(own), config);
      for (std::size_t member = 0; member < own.size(); ++member) {
        for (const Index item : own[member]) {
          members(item, static_cast<Index>(level)) = static_cast<std::int32_t>(member);
        }
      }
    });
    groups.clear();
    for (Groups& own : parts) std::ranges::move(own, std::back_inserter(groups));
  }
  return linalg::from_table(members, config.ends_with_items);
}
}  // namespace fedhur::server
