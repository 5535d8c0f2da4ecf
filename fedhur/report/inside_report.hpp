// How a run's best round looks inside: item groups or neighbours of items, who helps whom, and the
// quality for kinds of users and items.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/base/named_arrays.hpp"
#include "fedhur/data/interactions.hpp"
#include "fedhur/evaluate/metrics.hpp"

namespace fedhur::report {
struct ActivityBin {  // users by their training rows
  Index from = 0;
  std::optional<Index> to = {};  // the last bin has no end
  Index users = 0;
  evaluate::Metrics means;  // by the metrics' names without a cutoff
};

struct PopularityBin {  // items by their training rows
  std::string name;
  Index items = 0;
  Index training_rows = 0;
  Index test_rows = 0;
  Index hits = 0;
  Index recommended = 0;
};

struct WeightLevel {  // weights in equal shares
  double own = 0.0;
  std::optional<double> common = {};         // see server::common_share(); older runs have none
  std::vector<Index> counts;                 // by size
  std::vector<std::vector<double>> weights;  // a row per target, or block of targets
};
struct Relations {
  Index clients_per_block = 1;
  std::vector<double> bins_from = {};  // sizes
  std::vector<WeightLevel> levels = {};
};

struct PopularItem {
  std::string id;
  std::string title;
  Index training_rows = 0;
};
struct ItemGroup {
  Index items = 0;
  Index training_rows = 0;
  std::vector<ItemGroup> groups = {};     // it consists of; none at the last level, which has
  std::vector<PopularItem> popular = {};  // the most popular items first
};

struct Neighbor {
  std::string id;
  std::string title;
  double weight = 0.0;  // what it adds to the item's score
};
struct ItemNeighbors {
  PopularItem item;
  std::vector<Neighbor> neighbors;  // the largest weight first
};

struct Inside {
  Round round = 0;    // 1-based
  Index cutoff = 10;  // of the quality by bins
  std::vector<ActivityBin> activity = {};
  std::vector<PopularityBin> popularity = {};
  std::optional<Relations> relations = {};
  std::optional<ItemGroup> hierarchy = {};
  std::vector<ItemNeighbors> neighbors = {};
};

struct InsideSource {
  Round round = 0;
  Index num_clients = 0;
  Index cutoff = 10;
  const NamedArrays& arrays;                 // of RoundNotes::inside, and both of a Breakdown
  const data::Dataset& dataset;              // names and titles
  const std::vector<Index>& train_counts{};  // training rows of every item
};
// Large catalogues are cut: a group lists its most popular items only, and neighbours are those of
// the most popular items and of some that are evenly spread over the others by rank.
[[nodiscard]] Inside look_inside(const InsideSource& source);

// The text of inside.json and back; DataError if it is none.
[[nodiscard]] std::string to_json(const Inside& inside);
[[nodiscard]] Inside inside_from_json(const std::string& text);
// As in it.
void to_json(nlohmann::ordered_json& json, const ItemGroup& group);
void to_json(nlohmann::ordered_json& json, const ItemNeighbors& own);
}  // namespace fedhur::report
