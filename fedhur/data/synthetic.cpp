#include "fedhur/data/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "fedhur/base/error.hpp"
#include "fedhur/base/hash.hpp"
#include "fedhur/base/settings.hpp"

namespace fedhur::data {
namespace {
constexpr std::array<std::string_view, 24> kGroupWords = {
    "Amber",  "Birch", "Cedar", "Delta",  "Ember", "Fjord", "Grove",  "Harbor",
    "Iris",   "Jade",  "Kelp",  "Lumen",  "Maple", "Nova",  "Onyx",   "Prairie",
    "Quartz", "River", "Sable", "Tundra", "Umbra", "Vale",  "Willow", "Zephyr"};
constexpr Index kMaxLikedGroups = 3;
constexpr double kActivitySpread = 0.7;  // of the logarithm of a user's number of rows

// What streams are for, beside the user they belong to.
enum class StreamUse : std::uint64_t { items = 0, activity = 1, user = 2, identity = 3 };

struct Items {
  std::vector<Index> groups;
  std::vector<double> popularity;     // unnormalised
  std::vector<double> group_weights;  // sum of popularity by group
  double total = 0.0;
};

std::size_t slot(Index index) { return static_cast<std::size_t>(index); }

Items make_items(const SyntheticConfig& config, Rng rng) {
  Items items;
  items.groups.resize(slot(config.num_items));
  for (std::size_t i = 0; i < items.groups.size(); ++i) {
    items.groups[i] = static_cast<Index>(i) % config.num_groups;
  }
  rng.shuffle(std::span(items.groups));
  items.popularity.resize(items.groups.size());
  for (std::size_t i = 0; i < items.popularity.size(); ++i) {
    items.popularity[i] = std::pow(static_cast<double>(i + 1), -config.popularity_exponent);
  }
  rng.shuffle(std::span(items.popularity));
  items.group_weights.assign(slot(config.num_groups), 0.0);
  for (std::size_t i = 0; i < items.groups.size(); ++i) {
    items.group_weights[slot(items.groups[i])] += items.popularity[i];
    items.total += items.popularity[i];
  }
  return items;
}

// Rows per user: log-normal, at least one, at most all items, num_interactions in all.
std::vector<Index> draw_activity(const SyntheticConfig& config, Rng rng) {
  std::vector<double> weights(slot(config.num_users));
  for (double& weight : weights) weight = std::exp(kActivitySpread * rng.normal());
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<Index> rows(weights.size());
  for (std::size_t user = 0; user < rows.size(); ++user) {
    const double share = weights[user] / total * static_cast<double>(config.num_interactions);
    rows[user] = std::clamp<Index>(std::llround(share), 1, config.num_items);
  }
  Index missing = config.num_interactions - std::accumulate(rows.begin(), rows.end(), Index{0});
  for (std::size_t user = 0; missing != 0; user = (user + 1) % rows.size()) {
    const Index step = missing > 0 ? 1 : -1;
    if (rows[user] + step < 1 || rows[user] + step > config.num_items) continue;
    rows[user] += step;
    missing -= step;
  }
  return rows;
}

// Share of each group in what a user likes: one to three groups, the first the most.
std::vector<double> draw_taste(const SyntheticConfig& config, Rng& rng) {
  std::vector<Index> order(slot(config.num_groups));
  std::iota(order.begin(), order.end(), Index{0});
  rng.shuffle(std::span(order));
  const Index num_liked =
      std::min<Index>(1 + static_cast<Index>(rng.below(kMaxLikedGroups)), config.num_groups);
  std::vector<double> taste(order.size(), 0.0);
  double total = 0.0;
  for (Index i = 0; i < num_liked; ++i) total += 1.0 / static_cast<double>(i + 1);
  for (Index i = 0; i < num_liked; ++i) {
    taste[slot(order[slot(i)])] = 1.0 / static_cast<double>(i + 1) / total;
  }
  return taste;
}

// Items in the order in which repeated draws without replacement would find them: the keys
// log(u) / weight sort like that (Efraimidis and Spirakis).
std::vector<std::size_t> draw_items(const SyntheticConfig& config, const Items& items,
                                    const std::vector<double>& taste, std::size_t count, Rng& rng) {
  std::vector<double> keys(items.groups.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t group = slot(items.groups[i]);
    const double liked = config.affinity * taste[group] / items.group_weights[group];
    const double any = (1.0 - config.affinity) / items.total;
    const double weight = items.popularity[i] * (liked + any);
    keys[i] = weight > 0.0 ? std::log(1.0 - rng.uniform()) / weight
                           : -std::numeric_limits<double>::max() * (1.0 - rng.uniform());
  }
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
    return keys[a] != keys[b] ? keys[a] > keys[b] : a < b;
  });
  order.erase(middle, order.end());
  return order;
}

void add_user_rows(const SyntheticConfig& config, const Items& items, std::size_t user, Index count,
                   Rng rng, Dataset& dataset) {
  const auto taste = draw_taste(config, rng);
  std::int64_t timestamp = 0;
  for (const std::size_t item : draw_items(config, items, taste, slot(count), rng)) {
    const bool is_liked = taste[slot(items.groups[item])] > 0.0;
    const std::uint64_t rating = is_liked ? 4 + rng.below(2) : 2 + rng.below(3);
    dataset.interactions.push_back({.user = static_cast<UserId>(user),
                                    .item = static_cast<ItemId>(item),
                                    .rating = static_cast<float>(rating),
                                    .timestamp = ++timestamp});
  }
}

std::string group_word(Index group) {
  const std::size_t turn = slot(group) / kGroupWords.size();
  const std::string_view word = kGroupWords[slot(group) % kGroupWords.size()];
  return turn == 0 ? std::string(word) : fmt::format("{}-{}", word, turn + 1);
}

void name_all(const SyntheticConfig& config, const Items& items, Dataset& dataset) {
  for (Index user = 0; user < config.num_users; ++user) {
    dataset.user_names.push_back(fmt::format("u{:03}", user + 1));
  }
  std::vector<Index> used(slot(config.num_groups), 0);
  for (Index item = 0; item < config.num_items; ++item) {
    const Index group = items.groups[slot(item)];
    dataset.item_names.push_back(fmt::format("i{:03}", item + 1));
    dataset.item_titles.push_back(fmt::format("{} {:03}", group_word(group), ++used[slot(group)]));
  }
}

std::string identity(const SyntheticConfig& config, Rng rng) {
  const std::string settings = fmt::format(
      "synthetic 1: users {} items {} interactions {} groups {} popularity {} affinity {} draw {}",
      config.num_users, config.num_items, config.num_interactions, config.num_groups,
      config.popularity_exponent, config.affinity, rng.next());
  return sha256_hex(std::as_bytes(std::span(settings)));
}
}  // namespace

void declare_settings(Settings& settings, SyntheticConfig& config) {
  settings.add("synthetic.num_users", config.num_users, between(1, 1e7), "how many");
  settings.add("synthetic.num_items", config.num_items, between(1, 1e7), "how many");
  settings.add("synthetic.num_interactions", config.num_interactions, at_least(1),
               "one row per user up to all pairs");
  settings.add("synthetic.num_groups", config.num_groups, at_least(1),
               "latent groups of items, of which a user likes a few; at most one per item");
  settings.add("synthetic.popularity_exponent", config.popularity_exponent, between(0, 5),
               "power law of item popularity; 0 makes all alike");
  settings.add("synthetic.affinity", config.affinity, between(0, 1),
               "share of a user's rows that come from the groups it likes");
  settings.require(config.num_groups <= config.num_items, "synthetic.num_groups",
                   fmt::format("1 to {}, the number of items", config.num_items));
  const Index pairs = config.num_users * config.num_items;
  settings.require(
      config.num_interactions >= config.num_users && config.num_interactions <= pairs,
      "synthetic.num_interactions",
      fmt::format("{} to {}, one row per user up to all pairs", config.num_users, pairs));
}

Dataset make_synthetic(const SyntheticConfig& config, const Rng& rng) {
  validate(config);
  const Items items = make_items(config, rng.stream(Draw::synthetic, StreamUse::items));
  const auto activity = draw_activity(config, rng.stream(Draw::synthetic, StreamUse::activity));
  Dataset dataset;
  dataset.name = "synthetic";
  dataset.has_ratings = true;
  dataset.has_timestamps = true;
  dataset.interactions.reserve(slot(config.num_interactions));
  for (std::size_t user = 0; user < activity.size(); ++user) {
    add_user_rows(config, items, user, activity[user],
                  rng.stream(Draw::synthetic, StreamUse::user, user), dataset);
  }
  name_all(config, items, dataset);
  dataset.sha256 = identity(config, rng.stream(Draw::synthetic, StreamUse::identity));
  return dataset;
}
}  // namespace fedhur::data
