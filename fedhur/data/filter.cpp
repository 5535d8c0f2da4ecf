#include "fedhur/data/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "fedhur/base/error.hpp"
#include "fedhur/base/settings.hpp"

namespace fedhur::data {
namespace {
constexpr std::uint32_t kGone = UINT32_MAX;

void check(const Dataset& dataset, const FilterConfig& config) {
  validate(config);
  if (config.min_rating > 0.0 && !dataset.has_ratings) {
    throw ConfigError(fmt::format("data.min_rating = {}: the data has no ratings, expected 0",
                                  config.min_rating));
  }
}

// Which rows pass all thresholds, repeated until dropping one takes no other below.
std::vector<bool> keep_core(const Dataset& dataset, std::vector<bool> keep,
                            const FilterConfig& config) {
  for (bool changed = true; changed;) {
    std::vector<Index> user_counts(dataset.user_names.size(), 0);
    std::vector<Index> item_counts(dataset.item_names.size(), 0);
    for (std::size_t i = 0; i < keep.size(); ++i) {
      if (!keep[i]) continue;
      ++user_counts[slot(dataset.interactions[i].user)];
      ++item_counts[slot(dataset.interactions[i].item)];
    }
    changed = false;
    for (std::size_t i = 0; i < keep.size(); ++i) {
      if (!keep[i]) continue;
      const Interaction& row = dataset.interactions[i];
      keep[i] = user_counts[slot(row.user)] >= config.min_user_interactions &&
                item_counts[slot(row.item)] >= config.min_item_interactions;
      changed = changed || !keep[i];
    }
  }
  return keep;
}

template <class T>
void keep_only(std::vector<T>& values, const std::vector<bool>& keep) {
  if (values.empty()) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) continue;
    if (kept != i) values[kept] = std::move(values[i]);  // onto itself would empty a string
    ++kept;
  }
  values.resize(kept);
}

// New numbers 0, 1, ... for what is used, in the old order.
std::vector<std::uint32_t> number_used(const std::vector<bool>& used) {
  std::vector<std::uint32_t> numbers(used.size(), kGone);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) numbers[i] = next++;
  }
  return numbers;
}

void close_client_gaps(std::vector<ClientId>& user_clients) {
  ClientId last{};
  for (const ClientId client : user_clients) last = std::max(last, client);
  std::vector<bool> used(slot(last) + 1, false);
  for (const ClientId client : user_clients) used[slot(client)] = true;
  const auto numbers = number_used(used);
  for (ClientId& client : user_clients) client = static_cast<ClientId>(numbers[slot(client)]);
}
}  // namespace

void declare_settings(Settings& settings, FilterConfig& config) {
  settings.add("data.min_rating", config.min_rating, at_least(0),
               "rows rated below are left out; 0 keeps all, also unrated ones");
  settings.add("data.min_user_interactions", config.min_user_interactions, at_least(1),
               "k-core: users with fewer are left out, and items likewise, until all have enough");
  settings.add("data.min_item_interactions", config.min_item_interactions, at_least(1),
               "the same for items");
}

Dataset filter(Dataset dataset, const FilterConfig& config) {
  check(dataset, config);
  std::vector<bool> keep(dataset.interactions.size());
  for (std::size_t i = 0; i < keep.size(); ++i) {
    keep[i] = config.min_rating <= 0.0 ||
              static_cast<double>(dataset.interactions[i].rating) >= config.min_rating;
  }
  keep = keep_core(dataset, std::move(keep), config);
  keep_only(dataset.interactions, keep);
  keep_only(dataset.parts, keep);
  if (dataset.interactions.empty()) {
    throw DataError(
        fmt::format("{}: no interaction is left with min_rating {}, min_user_interactions {} and "
                    "min_item_interactions {}",
                    dataset.name, config.min_rating, config.min_user_interactions,
                    config.min_item_interactions));
  }
  std::vector<bool> used_users(dataset.user_names.size(), false);
  std::vector<bool> used_items(dataset.item_names.size(), false);
  for (const Interaction& row : dataset.interactions) {
    used_users[slot(row.user)] = true;
    used_items[slot(row.item)] = true;
  }
  const auto users = number_used(used_users);
  const auto items = number_used(used_items);
  for (Interaction& row : dataset.interactions) {
    row.user = static_cast<UserId>(users[slot(row.user)]);
    row.item = static_cast<ItemId>(items[slot(row.item)]);
  }
  keep_only(dataset.user_names, used_users);
  keep_only(dataset.item_names, used_items);
  keep_only(dataset.item_titles, used_items);
  keep_only(dataset.user_clients, used_users);
  if (!dataset.user_clients.empty()) close_client_gaps(dataset.user_clients);
  return dataset;
}
}  // namespace fedhur::data
