#include "apps/data_statistics.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fedhur/base/text.hpp"

namespace fedhur::apps {
namespace {
using Json = nlohmann::ordered_json;
using Counts = std::vector<std::int64_t>;

Counts zeros(Index count) { return Counts(static_cast<std::size_t>(count), 0); }

template <class Id>
void count(Counts& counts, Id id) {
  ++counts[static_cast<std::size_t>(id)];
}

Json to_json(const Range& range) {
  return {{"min", range.least}, {"median", range.median}, {"max", range.most}};
}

std::vector<std::string> range_row(const std::string& label, const Range& range) {
  return {label, format_count(range.least), fmt::format("{}", range.median),
          format_count(range.most)};
}

// "1997-09-20", if the number can be one of seconds since 1970.
std::string format_day(std::int64_t seconds) {
  constexpr std::int64_t kLast = 253402300799;  // the year 9999
  if (seconds < 0 || seconds > kLast) return fmt::format("{}", seconds);
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string format_ratings(const std::map<float, std::int64_t>& ratings) {
  constexpr std::size_t kMostLines = 25;
  constexpr double kLongestBar = 40.0;
  if (ratings.size() > kMostLines) {
    return fmt::format("ratings       {} different values from {} to {}\n", ratings.size(),
                       ratings.begin()->first, ratings.rbegin()->first);
  }
  const auto most =
      std::ranges::max_element(ratings, {}, [](const auto& entry) { return entry.second; })->second;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [rating, rows_rated] : ratings) {
    const auto length = static_cast<std::size_t>(
        std::lround(kLongestBar * static_cast<double>(rows_rated) / static_cast<double>(most)));
    rows.push_back({fmt::format("{}", rating), format_count(rows_rated), std::string(length, '#')});
  }
  return "ratings\n" + format_table(rows, {Align::right, Align::right, Align::left}, "  ");
}
}  // namespace

Range range_of(std::vector<std::int64_t> counts) {
  if (counts.empty()) return {};
  std::ranges::sort(counts);
  const std::size_t middle = counts.size() / 2;
  const auto upper = static_cast<double>(counts[middle]);
  const bool is_even = counts.size() % 2 == 0;
  return {.least = counts.front(),
          .median = is_even ? (static_cast<double>(counts[middle - 1]) + upper) / 2.0 : upper,
          .most = counts.back()};
}

DataStatistics inspect(const data::Dataset& dataset) {
  Counts users = zeros(dataset.num_users());
  Counts items = zeros(dataset.num_items());
  DataStatistics statistics;
  for (const data::Interaction& row : dataset.interactions) {
    count(users, row.user);
    count(items, row.item);
    if (dataset.has_ratings) ++statistics.ratings[row.rating];
    if (!dataset.has_timestamps) continue;
    auto& span = statistics.time_span;
    if (!span) span.emplace(row.timestamp, row.timestamp);
    span->first = std::min(span->first, row.timestamp);
    span->second = std::max(span->second, row.timestamp);
  }
  statistics.name = dataset.name;
  statistics.sha256 = dataset.sha256;
  statistics.num_users = dataset.num_users();
  statistics.num_items = dataset.num_items();
  statistics.num_interactions = static_cast<std::int64_t>(dataset.interactions.size());
  const double pairs =
      static_cast<double>(statistics.num_users) * static_cast<double>(statistics.num_items);
  statistics.density = pairs > 0.0 ? static_cast<double>(statistics.num_interactions) / pairs : 0.0;
  statistics.per_user = range_of(std::move(users));
  statistics.per_item = range_of(std::move(items));
  statistics.num_titles = std::ranges::count_if(
      dataset.item_titles, [](const std::string& title) { return !title.empty(); });
  statistics.skipped_rows = dataset.skipped_rows;
  return statistics;
}

std::string format_text(const DataStatistics& statistics) {
  std::string text = printable(statistics.name) + "\n\n";
  const auto add = [&text](std::string_view label, const std::string& value) {
    text += padded(label, 14, Align::left) + value + "\n";
  };
  add("users", format_count(statistics.num_users));
  add("items", fmt::format("{} ({} with a title)", format_count(statistics.num_items),
                           format_count(statistics.num_titles)));
  add("interactions", format_count(statistics.num_interactions));
  add("density", fmt::format("{:.3g} %", 100.0 * statistics.density));
  if (statistics.time_span) {
    add("time", fmt::format("{} to {}", format_day(statistics.time_span->first),
                            format_day(statistics.time_span->second)));
  }
  add("bad rows", fmt::format("{} skipped", format_count(statistics.skipped_rows)));
  add("sha256", statistics.sha256);
  text += "\n" + format_table({{"interactions", "min", "median", "max"},
                               range_row("per user", statistics.per_user),
                               range_row("per item", statistics.per_item)},
                              {Align::left});
  if (!statistics.ratings.empty()) text += "\n" + format_ratings(statistics.ratings);
  return text;
}

Json to_json(const DataStatistics& statistics) {
  Json json = {{"data", statistics.name},
               {"users", statistics.num_users},
               {"items", statistics.num_items},
               {"interactions", statistics.num_interactions},
               {"density", statistics.density},
               {"interactions_per_user", to_json(statistics.per_user)},
               {"interactions_per_item", to_json(statistics.per_item)},
               {"titles", statistics.num_titles},
               {"skipped_rows", statistics.skipped_rows},
               {"sha256", statistics.sha256}};
  if (!statistics.ratings.empty()) {
    json["ratings"] = Json::object();
    for (const auto& [rating, rows] : statistics.ratings) {
      json["ratings"][fmt::format("{}", rating)] = rows;
    }
  }
  if (statistics.time_span) {
    json["first_timestamp"] = statistics.time_span->first;
    json["last_timestamp"] = statistics.time_span->second;
  }
  return json;
}

PartitionStatistics inspect(const experiment::PreparedData& prepared) {
  PartitionStatistics statistics;
  statistics.name = prepared.dataset.name;
  for (const ClientId client : prepared.user_clients) {
    statistics.num_clients = std::max(statistics.num_clients, index_of(client) + 1);
  }
  constexpr std::array kCounted = {"users", "interactions", "train", "valid", "test"};
  std::array<Counts, kCounted.size()> counts;
  counts.fill(zeros(statistics.num_clients));
  for (const ClientId client : prepared.user_clients) count(counts[0], client);
  for (std::size_t i = 0; i < prepared.parts.size(); ++i) {
    const UserId user = prepared.dataset.interactions[i].user;
    const ClientId client = prepared.user_clients[static_cast<std::size_t>(user)];
    count(counts[1], client);
    count(counts.at(2 + static_cast<std::size_t>(prepared.parts[i])), client);
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    statistics.per_client.emplace_back(kCounted.at(i), range_of(std::move(counts.at(i))));
  }
  for (std::size_t client = 0; client < prepared.conflicts.clients.size(); ++client) {
    if (!prepared.conflicts.clients[client]) continue;
    statistics.conflicting_clients.push_back(static_cast<std::int64_t>(client));
  }
  statistics.num_conflicting_items = prepared.conflicts.num_items;
  return statistics;
}

std::string format_text(const PartitionStatistics& statistics) {
  std::vector<std::vector<std::string>> rows = {{"per client", "min", "median", "max"}};
  for (const auto& [counted, range] : statistics.per_client) {
    rows.push_back(
        range_row((rows.size() > 2 ? "  " : "") + counted, range));  // parts are indented
  }
  std::string text = fmt::format("{}: {} clients\n\n", printable(statistics.name),
                                 format_count(statistics.num_clients)) +
                     format_table(rows, {Align::left});
  if (!statistics.conflicting_clients.empty()) {
    text += fmt::format("\nconflicts: {} clients have other ids for {} items\n",
                        format_count(std::ssize(statistics.conflicting_clients)),
                        format_count(statistics.num_conflicting_items));
  }
  return text;
}

Json to_json(const PartitionStatistics& statistics) {
  Json json = {{"data", statistics.name}, {"clients", statistics.num_clients}};
  for (const auto& [counted, range] : statistics.per_client) {
    json[counted + "_per_client"] = to_json(range);
  }
  if (!statistics.conflicting_clients.empty()) {
    json["conflicting_clients"] = statistics.conflicting_clients;
    json["conflicting_items"] = statistics.num_conflicting_items;
  }
  return json;
}
}  // namespace fedhur::apps
