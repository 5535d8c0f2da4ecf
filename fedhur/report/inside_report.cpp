#include "fedhur/report/inside_report.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "fedhur/evaluate/breakdown.hpp"
#include "fedhur/report/json_text.hpp"
#include "fedhur/server/relation_summary.hpp"

namespace fedhur::report {
namespace {
constexpr Index kMostItems = 4000;  // listed in all groups together
constexpr Index kFewestItems = 3;   // of a group, however many groups there are
// Items whose neighbours are shown.
constexpr std::size_t kMostPopular = 100;
constexpr std::size_t kOthers = 100;

// With three digits: a picture needs no more, and the file would be three times as long.
double rounded(double value) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, 2.0 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

std::vector<ActivityBin> look_at_activity(const MatrixOf<double>& sums) {
  std::vector<ActivityBin> bins;
  for (Index row = 0; row < sums.rows(); ++row) {
    if (sums(row, 0) == 0.0) continue;
    ActivityBin& bin = bins.emplace_back();
    bin.from = evaluate::first_of_activity_bin(row);
    if (row + 1 < sums.rows()) bin.to = evaluate::first_of_activity_bin(row + 1) - 1;
    bin.users = std::llround(sums(row, 0));
    for (Index column = 1; column < sums.cols(); ++column) {
      const auto metric = static_cast<std::size_t>(column - 1);
      bin.means[std::string(evaluate::summed_metrics()[metric].name)] =
          sums(row, column) / sums(row, 0);
    }
  }
  return bins;
}

std::vector<PopularityBin> look_at_popularity(const MatrixOf<double>& sums,
                                              const std::vector<Index>& train_counts) {
  std::vector<PopularityBin> bins;
  for (Index row = 0; row < sums.rows(); ++row) {
    bins.push_back({.name = std::string(evaluate::kPopularityNames[static_cast<std::size_t>(row)]),
                    .test_rows = std::llround(sums(row, 0)),
                    .hits = std::llround(sums(row, 1)),
                    .recommended = std::llround(sums(row, 2))});
  }
  const evaluate::ItemBins bin_of = evaluate::bin_items(train_counts);
  for (std::size_t item = 0; item < bin_of.size(); ++item) {
    bins[bin_of[item]].items += 1;
    bins[bin_of[item]].training_rows += train_counts[item];
  }
  return bins;
}

Relations look_at_relations(const NamedArrays& arrays, Index num_clients) {
  const Matrix& blocks = arrays.matrix("weight_blocks");
  const MatrixOf<double>& counts = arrays.doubles("weight_counts");
  const MatrixOf<double>& own = arrays.doubles("own_weights");
  const MatrixOf<double>& common = arrays.doubles("common_weights");
  const auto equal_shares = [num_clients](double weight) {
    return rounded(weight * static_cast<double>(num_clients));
  };
  Relations relations{.clients_per_block = server::clients_per_block(num_clients),
                      .bins_from = {0.0}};
  for (Index bin = 1; bin < counts.cols(); ++bin) {
    relations.bins_from.push_back(rounded(server::first_of_weight_bin(bin)));
  }
  for (Index level = 0; level < counts.rows(); ++level) {
    WeightLevel& weights = relations.levels.emplace_back();
    weights.own = equal_shares(own(level));
    weights.common = rounded(common(level));
    for (const double count : counts.row(level)) weights.counts.push_back(std::llround(count));
    for (const auto& row : blocks.middleRows(level * blocks.cols(), blocks.cols()).rowwise()) {
      auto& shares = weights.weights.emplace_back();
      for (const Real weight : row) shares.push_back(equal_shares(weight));
    }
  }
  return relations;
}

Index count_leaves(const MatrixOf<std::int32_t>& groups) {
  std::vector<std::vector<std::int32_t>> paths;
  for (Index item = 0; item < groups.rows(); ++item) {
    const auto path = groups.row(item);
    paths.emplace_back(path.data(), path.data() + path.size());
  }
  std::ranges::sort(paths);
  return std::unique(paths.begin(), paths.end()) - paths.begin();
}

PopularItem describe_item(const InsideSource& source, std::size_t item) {
  return {source.dataset.item_names[item], source.dataset.item_titles[item],
          source.train_counts[item]};
}

// `items` are those of the group, the most popular first.
ItemGroup look_at_group(const InsideSource& source, const MatrixOf<std::int32_t>& groups,
                        const std::vector<std::size_t>& items, Index level,
                        std::size_t most_listed) {
  ItemGroup group{.items = static_cast<Index>(items.size())};
  for (const std::size_t item : items) group.training_rows += source.train_counts[item];
  if (level == groups.cols()) {
    for (const std::size_t item : std::span(items).first(std::min(items.size(), most_listed))) {
      group.popular.push_back(describe_item(source, item));
    }
    return group;
  }
  std::vector<std::vector<std::size_t>> members;
  for (const std::size_t item : items) {
    const auto member = static_cast<std::size_t>(groups(static_cast<Index>(item), level));
    if (members.size() <= member) members.resize(member + 1);
    members[member].push_back(item);
  }
  for (const auto& own : members) {
    group.groups.push_back(look_at_group(source, groups, own, level + 1, most_listed));
  }
  return group;
}

std::vector<std::size_t> items_by_popularity(const InsideSource& source) {
  std::vector<std::size_t> items(source.train_counts.size());
  std::iota(items.begin(), items.end(), std::size_t{0});
  std::ranges::stable_sort(items, std::greater<>(),
                           [&](std::size_t item) { return source.train_counts[item]; });
  return items;
}

ItemGroup look_at_hierarchy(const InsideSource& source, const MatrixOf<std::int32_t>& groups) {
  const std::vector<std::size_t> items = items_by_popularity(source);
  const Index most_listed = std::max(kFewestItems, kMostItems / count_leaves(groups));
  return look_at_group(source, groups, items, 0, static_cast<std::size_t>(most_listed));
}
std::vector<ItemNeighbors> look_at_neighbors(const InsideSource& source,
                                             const MatrixOf<std::int32_t>& nearest,
                                             const Matrix& weights) {
  std::vector<std::size_t> items = items_by_popularity(source);
  std::erase_if(items, [&](std::size_t item) { return nearest(static_cast<Index>(item), 0) < 0; });
  if (items.size() > kMostPopular + kOthers) {
    const std::size_t rest = items.size() - kMostPopular;
    for (std::size_t i = 0; i < kOthers; ++i) {
      items[kMostPopular + i] = items[kMostPopular + (i + 1) * rest / kOthers - 1];
    }
    items.resize(kMostPopular + kOthers);
  }
  std::vector<ItemNeighbors> all;
  for (const std::size_t item : items) {
    ItemNeighbors& own = all.emplace_back();
    own.item = describe_item(source, item);
    const auto row = static_cast<Index>(item);
    for (Index place = 0; place < nearest.cols() && nearest(row, place) >= 0; ++place) {
      const auto [id, title, rows] =
          describe_item(source, static_cast<std::size_t>(nearest(row, place)));
      own.neighbors.push_back({id, title, rounded(static_cast<double>(weights(row, place)))});
    }
  }
  return all;
}
}  // namespace

Inside look_inside(const InsideSource& source) {
  const NamedArrays& arrays = source.arrays;
  Inside inside{.round = source.round + 1, .cutoff = source.cutoff};
  inside.activity = look_at_activity(arrays.doubles("test_by_activity"));
  inside.popularity = look_at_popularity(arrays.doubles("test_by_popularity"), source.train_counts);
  if (arrays.contains("weight_blocks")) {
    inside.relations = look_at_relations(arrays, source.num_clients);
  }
  if (arrays.contains("item_groups")) {
    inside.hierarchy = look_at_hierarchy(source, arrays.integers("item_groups"));
  }
  if (arrays.contains("neighbor_items")) {
    inside.neighbors = look_at_neighbors(source, arrays.integers("neighbor_items"),
                                         arrays.matrix("neighbor_weights"));
  }
  return inside;
}

void to_json(Json& json, const ItemGroup& group) {
  json = {{"items", group.items}, {"training_rows", group.training_rows}};
  if (!group.groups.empty()) {
    json["groups"] = group.groups;
    return;
  }
  Json& items = json["popular"] = Json::array();
  for (const auto& [id, title, rows] : group.popular) items.push_back({id, title, rows});
}

void to_json(Json& json, const ItemNeighbors& own) {
  Json neighbors = Json::array();
  for (const auto& [id, title, weight] : own.neighbors) neighbors.push_back({id, title, weight});
  json = {own.item.id, own.item.title, own.item.training_rows, std::move(neighbors)};
}

static void from_json(const Json& json, ItemNeighbors& own) {
  own.item = {json.at(0), json.at(1), json.at(2)};
  for (const Json& neighbor : json.at(3)) {
    own.neighbors.push_back({neighbor.at(0), neighbor.at(1), neighbor.at(2)});
  }
}

static void from_json(const Json& json, ItemGroup& group) {
  json.at("items").get_to(group.items);
  json.at("training_rows").get_to(group.training_rows);
  if (json.contains("groups")) {
    json["groups"].get_to(group.groups);
    return;
  }
  for (const Json& item : json.at("popular")) {
    group.popular.push_back({item.at(0), item.at(1), item.at(2)});
  }
}

static void to_json(Json& json, const ActivityBin& bin) {
  json = {{"from", bin.from}, {"to", bin.to ? Json(*bin.to) : Json()}, {"users", bin.users}};
  for (const auto& metric : evaluate::summed_metrics()) {
    json[std::string(metric.name)] = bin.means.at(std::string(metric.name));
  }
}

static void from_json(const Json& json, ActivityBin& bin) {
  json.at("from").get_to(bin.from);
  if (!json.at("to").is_null()) bin.to = json["to"].get<Index>();
  json.at("users").get_to(bin.users);
  for (const auto& [name, value] : json.items()) {
    if (evaluate::find_metric(name) != nullptr) value.get_to(bin.means[name]);
  }
}

static void to_json(Json& json, const PopularityBin& bin) {
  json = {{"bin", bin.name},
          {"items", bin.items},
          {"training_rows", bin.training_rows},
          {"test_rows", bin.test_rows},
          {"hits", bin.hits},
          {"recommended", bin.recommended}};
}

static void from_json(const Json& json, PopularityBin& bin) {
  bin = {json.at("bin"),       json.at("items"), json.at("training_rows"),
         json.at("test_rows"), json.at("hits"),  json.at("recommended")};
}

static void to_json(Json& json, const WeightLevel& level) {
  json["own"] = level.own;
  if (level.common) json["common"] = *level.common;
  json["counts"] = level.counts;
  json["weights"] = level.weights;
}

static void from_json(const Json& json, WeightLevel& level) {
  level = {.own = json.at("own"),
           .common = {},
           .counts = json.at("counts"),
           .weights = json.at("weights")};
  if (json.contains("common")) level.common = json["common"].get<double>();
}

std::string to_json(const Inside& inside) {
  Json json = {{"round", inside.round},
               {"cutoff", inside.cutoff},
               {"activity", inside.activity},
               {"popularity", inside.popularity}};
  if (const auto& relations = inside.relations) {
    json["relations"] = {{"clients_per_block", relations->clients_per_block},
                         {"bins_from", relations->bins_from},
                         {"levels", relations->levels}};
  }
  if (inside.hierarchy) json["hierarchy"] = *inside.hierarchy;
  if (!inside.neighbors.empty()) json["neighbors"] = inside.neighbors;
  return to_line(json);
}

Inside inside_from_json(const std::string& text) {
  return parse_json(text, "the inside of a round", [](const Json& json) {
    Inside inside{json.at("round"), json.at("cutoff"), json.at("activity"), json.at("popularity")};
    if (json.contains("relations")) {
      const Json& relations = json["relations"];
      inside.relations = {relations.at("clients_per_block"), relations.at("bins_from"),
                          relations.at("levels")};
    }
    if (json.contains("hierarchy")) inside.hierarchy = json["hierarchy"].get<ItemGroup>();
    if (json.contains("neighbors")) json["neighbors"].get_to(inside.neighbors);
    return inside;
  });
}
}  // namespace fedhur::report
