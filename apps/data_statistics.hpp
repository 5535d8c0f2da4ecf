// A data set in numbers.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/experiment/prepare_data.hpp"

namespace fedhur::apps {
// Of a list of counts; all 0 for an empty one.
struct Range {
  std::int64_t least = 0;
  double median = 0.0;
  std::int64_t most = 0;
};
[[nodiscard]] Range range_of(std::vector<std::int64_t> counts);

struct DataStatistics {
  std::string name;
  std::string sha256;
  std::int64_t num_users = 0;
  std::int64_t num_items = 0;
  std::int64_t num_interactions = 0;
  double density = 0.0;  // share of all pairs
  Range per_user;        // interactions
  Range per_item;
  std::map<float, std::int64_t> ratings;  // how many rows have each; empty without ratings
  std::optional<std::pair<std::int64_t, std::int64_t>> time_span;  // first and last timestamp
  std::int64_t num_titles = 0;
  std::int64_t skipped_rows = 0;
};
[[nodiscard]] DataStatistics inspect(const data::Dataset& dataset);
[[nodiscard]] std::string format_text(const DataStatistics& statistics);
[[nodiscard]] nlohmann::ordered_json to_json(const DataStatistics& statistics);

struct PartitionStatistics {
  std::string name;
  std::int64_t num_clients = 0;
  std::vector<std::pair<std::string, Range>> per_client;  // users, interactions, and of each part
  std::vector<std::int64_t> conflicting_clients;
  std::int64_t num_conflicting_items = 0;  // that have another id there
};
[[nodiscard]] PartitionStatistics inspect(const experiment::PreparedData& prepared);
[[nodiscard]] std::string format_text(const PartitionStatistics& statistics);
[[nodiscard]] nlohmann::ordered_json to_json(const PartitionStatistics& statistics);
}  // namespace fedhur::apps
