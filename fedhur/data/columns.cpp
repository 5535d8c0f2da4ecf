#include "fedhur/data/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "fedhur/base/strings.hpp"

namespace fedhur::data {
namespace {
using Header = std::span<const std::string_view>;

constexpr std::array<std::string_view, 6> kUserNames = {"user", "userid",   "reviewerid",
                                                        "uid",  "username", "customerid"};
constexpr std::array<std::string_view, 12> kItemNames = {
    "item",   "itemid", "asin", "parentasin", "productid", "movieid",
    "bookid", "isbn",   "iid",  "businessid", "trackid",   "songid"};
constexpr std::array<std::string_view, 6> kRatingNames = {"rating", "ratings", "overall",
                                                          "score",  "stars",   "bookrating"};
constexpr std::array<std::string_view, 4> kTimestampNames = {"timestamp", "time", "unixreviewtime",
                                                             "datetime"};

std::string simplified(std::string_view name) {
  std::string result = lowercase(name);
  std::erase_if(result, [](char c) { return c == '_' || c == '-' || c == ' '; });
  return result;
}

std::optional<std::size_t> find_alias(Header header, std::span<const std::string_view> aliases) {
  for (const std::string_view alias : aliases) {
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (simplified(header[i]) == alias) return i;
    }
  }
  return std::nullopt;
}

// `complete` is set to false where the column is missing although it has to be there.
std::optional<std::size_t> find_setting(Header header, const std::string& name,
                                        std::span<const std::string_view> aliases, bool& complete) {
  const auto exact = std::ranges::find(header, name);
  if (exact != header.end()) return static_cast<std::size_t>(exact - header.begin());
  if (name == aliases.front()) return find_alias(header, aliases);
  complete = false;
  return std::nullopt;
}
}  // namespace

std::optional<std::size_t> find_column(Header header, std::string_view name) {
  const std::array<std::string, 1> wanted = {simplified(name)};
  const std::array<std::string_view, 1> alias = {wanted[0]};
  return find_alias(header, alias);
}

std::optional<Columns> find_columns(Header header, const LoadConfig& config) {
  bool complete = true;
  const auto user = find_setting(header, config.user_column, kUserNames, complete);
  const auto item = find_setting(header, config.item_column, kItemNames, complete);
  Columns columns;
  columns.rating = find_setting(header, config.rating_column, kRatingNames, complete);
  columns.timestamp = find_setting(header, config.timestamp_column, kTimestampNames, complete);
  if (!complete || !user || !item || *user == *item) return std::nullopt;
  columns.user = *user;
  columns.item = *item;
  columns.count = header.size();
  return columns;
}

std::string header_problem(Header header, const LoadConfig& config) {
  std::string wanted = fmt::format("'{}' and '{}'", config.user_column, config.item_column);
  const LoadConfig defaults;
  if (config.rating_column != defaults.rating_column) {
    wanted += fmt::format(" and '{}'", config.rating_column);
  }
  if (config.timestamp_column != defaults.timestamp_column) {
    wanted += fmt::format(" and '{}'", config.timestamp_column);
  }
  return fmt::format("found header {}, expected one with columns {}",
                     excerpt(fmt::format("{}", fmt::join(header, ", "))), wanted);
}

Header read_header(RecordReader& reader, const std::filesystem::path& file) {
  if (!reader.next()) fail_at(file, 1, "found blank lines only, expected a header");
  if (!reader.problem().empty()) fail_at(file, reader.line(), reader.problem());
  return reader.fields();
}

std::string field_count_problem(std::size_t found, std::size_t expected) {
  return fmt::format("found {} field{}, expected {}", found, found == 1 ? "" : "s", expected);
}

void add_record(Header fields, std::size_t line, const Columns& columns, RowCollector& rows) {
  if (fields.size() != columns.count) {
    return rows.reject(line, field_count_problem(fields.size(), columns.count));
  }
  SourceRow row{.line = line, .user = fields[columns.user], .item = fields[columns.item]};
  if (columns.rating && !parse_rating(fields[*columns.rating], row.rating)) {
    return rows.reject(line, fmt::format("found rating {}, expected a finite number",
                                         excerpt(fields[*columns.rating])));
  }
  if (columns.timestamp && !parse_timestamp(fields[*columns.timestamp], row.timestamp)) {
    return rows.reject(line, fmt::format("found timestamp {}, expected a number of seconds",
                                         excerpt(fields[*columns.timestamp])));
  }
  rows.add(row);
}

void add_records(RecordReader& reader, const Columns& columns, RowCollector& rows) {
  for_each_record(reader, rows, [&](Header fields, std::size_t line) {
    add_record(fields, line, columns, rows);
  });
}
}  // namespace fedhur::data
