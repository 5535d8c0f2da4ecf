#include "fedhur/report/inside_report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "fedhur/evaluate/breakdown.hpp"
#include "fedhur/server/relation_summary.hpp"

namespace fedhur::report {
namespace {
using Json = nlohmann::ordered_json;
constexpr Index kMostItems = 4000;  // listed in all groups together
constexpr Index kFewestItems = 3;   // of a group, however many groups there are

// With three digits: a picture needs no more, and the file would be three times as long.
double rounded(double value) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, 2.0 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json describe_activity(const MatrixOf<double>& sums) {
  Json bins = Json::array();
  for (Index bin = 0; bin < sums.rows(); ++bin) {
    const double users = sums(bin, 0);
    if (users == 0.0) continue;
    const bool is_last = bin + 1 == evaluate::kActivityBins;
    bins.push_back({{"from", evaluate::first_of_activity_bin(bin)},
                    {"to", is_last ? Json() : Json(evaluate::first_of_activity_bin(bin + 1) - 1)},
                    {"users", std::llround(users)},
                    {"precision", sums(bin, 1) / users},
                    {"recall", sums(bin, 2) / users},
                    {"mrr", sums(bin, 3) / users},
                    {"ndcg", sums(bin, 4) / users}});
  }
  return bins;
}

Json describe_popularity(const MatrixOf<double>& sums, const std::vector<Index>& train_counts) {
  const evaluate::ItemBins bin_of = evaluate::bin_items(train_counts);
  Json bins = Json::array();
  for (Index bin = 0; bin < sums.rows(); ++bin) {
    Index items = 0;
    Index rows = 0;
    for (std::size_t item = 0; item < bin_of.size(); ++item) {
      if (bin_of[item] != bin) continue;
      ++items;
      rows += train_counts[item];
    }
    bins.push_back({{"bin", evaluate::kPopularityNames[static_cast<std::size_t>(bin)]},
                    {"items", items},
                    {"training_rows", rows},
                    {"test_rows", std::llround(sums(bin, 0))},
                    {"hits", std::llround(sums(bin, 1))},
                    {"recommended", std::llround(sums(bin, 2))}});
  }
  return bins;
}

Json describe_relations(const NamedArrays& arrays, Index num_clients) {
  const Matrix& blocks = arrays.matrix("weight_blocks");
  const MatrixOf<double>& counts = arrays.doubles("weight_counts");
  const MatrixOf<double>& own = arrays.doubles("own_weights");
  const auto equal_shares = [num_clients](double weight) {
    return rounded(weight * static_cast<double>(num_clients));
  };
  Json levels = Json::array();
  for (Index level = 0; level < counts.rows(); ++level) {
    Json rows = Json::array();
    for (Index row = level * blocks.cols(); row < (level + 1) * blocks.cols(); ++row) {
      Json& cells = rows.emplace_back(Json::array());
      for (Index col = 0; col < blocks.cols(); ++col)
        cells.push_back(equal_shares(blocks(row, col)));
    }
    Json by_size = Json::array();
    for (Index bin = 0; bin < counts.cols(); ++bin)
      by_size.push_back(std::llround(counts(level, bin)));
    levels.push_back({{"own", equal_shares(own(level))},
                      {"counts", std::move(by_size)},
                      {"weights", std::move(rows)}});
  }
  Json edges = Json::array({0});
  for (Index bin = 1; bin < counts.cols(); ++bin) {
    edges.push_back(rounded(server::first_of_weight_bin(bin)));
  }
  return {{"clients_per_block", server::clients_per_block(num_clients)},
          {"bins_from", std::move(edges)},
          {"levels", std::move(levels)}};
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

// `items` are those of the group, the most popular first.
Json describe_group(const InsideReport& inside, const MatrixOf<std::int32_t>& groups,
                    const std::vector<std::size_t>& items, Index level, std::size_t most_listed) {
  Index rows = 0;
  for (const std::size_t item : items) rows += inside.train_counts[item];
  Json group = {{"items", items.size()}, {"training_rows", rows}};
  if (level == groups.cols()) {
    Json& popular = group["popular"] = Json::array();
    for (const std::size_t item : std::span(items).first(std::min(items.size(), most_listed))) {
      popular.push_back({inside.dataset.item_names[item], inside.dataset.item_titles[item],
                         inside.train_counts[item]});
    }
    return group;
  }
  std::vector<std::vector<std::size_t>> members;
  for (const std::size_t item : items) {
    const auto member = static_cast<std::size_t>(groups(static_cast<Index>(item), level));
    if (members.size() <= member) members.resize(member + 1);
    members[member].push_back(item);
  }
  Json& parts = group["groups"] = Json::array();
  for (const auto& own : members) {
    parts.push_back(describe_group(inside, groups, own, level + 1, most_listed));
  }
  return group;
}

Json describe_hierarchy(const InsideReport& inside, const MatrixOf<std::int32_t>& groups) {
  std::vector<std::size_t> items(inside.train_counts.size());
  std::iota(items.begin(), items.end(), std::size_t{0});
  std::ranges::stable_sort(items, std::greater<>(),
                           [&](std::size_t item) { return inside.train_counts[item]; });
  const Index most_listed = std::max(kFewestItems, kMostItems / count_leaves(groups));
  return describe_group(inside, groups, items, 0, static_cast<std::size_t>(most_listed));
}
}  // namespace

std::string to_json(const InsideReport& inside) {
  const NamedArrays& arrays = inside.arrays;
  Json json = {{"round", inside.round + 1}, {"cutoff", inside.cutoff}};
  json["activity"] = describe_activity(arrays.doubles("test_by_activity"));
  json["popularity"] =
      describe_popularity(arrays.doubles("test_by_popularity"), inside.train_counts);
  if (arrays.contains("weight_blocks")) {
    json["relations"] = describe_relations(arrays, inside.num_clients);
  }
  if (arrays.contains("item_groups")) {
    json["hierarchy"] = describe_hierarchy(inside, arrays.integers("item_groups"));
  }
  // Names and titles may hold any bytes; JSON may not.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}
}  // namespace fedhur::report
