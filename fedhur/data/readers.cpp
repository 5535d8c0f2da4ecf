#include "fedhur/data/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fedhur/base/strings.hpp"
#include "fedhur/data/columns.hpp"
#include "fedhur/data/records.hpp"

namespace fedhur::data {
namespace {
using Fields = std::span<const std::string_view>;

// MovieLens and Amazon files without a header.
constexpr Columns kUsualColumns = {.user = 0, .item = 1, .rating = 2, .timestamp = 3, .count = 4};

Contents contents_of(const Columns& columns) {
  return {.has_ratings = columns.rating.has_value(),
          .has_timestamps = columns.timestamp.has_value()};
}

// The first of several problems, or empty text.
std::string numeric_ids_problem(
    std::initializer_list<std::pair<std::string_view, std::string_view>> ids) {
  for (const auto& [what, id] : ids) {
    if (std::string problem = numeric_id_problem(what, id); !problem.empty()) return problem;
  }
  return {};
}

// A comma at the end of Amazon's lines makes a last field without a name. Its content does not
// count: in public copies it holds remarks of people who handled the file.
Fields named_fields(Fields fields, const Columns& columns, bool has_unnamed) {
  const bool has_more = fields.size() == columns.count + 1;
  return has_more && (has_unnamed || fields.back().empty()) ? fields.first(columns.count) : fields;
}

bool is_amazon_header(Fields fields) {
  float rating = 0.0F;
  return fields.size() < kUsualColumns.count ||
         !parse_rating(fields[kUsualColumns.rating.value()], rating);
}

Columns amazon_columns(Fields header, const RowCollector& rows, std::size_t line) {
  const LoadConfig config;
  const auto columns = find_columns(header, config);
  if (!columns || !columns->rating || !columns->timestamp) {
    rows.fail(line, header_problem(header, config) + ", 'rating' and 'timestamp'");
  }
  return *columns;
}

// The names without their types. A header without types is of some other format.
std::vector<std::string_view> untyped(Fields header, std::size_t line, const RowCollector& rows) {
  std::vector<std::string_view> names;
  for (const std::string_view column : header) {
    const std::size_t colon = column.rfind(':');
    if (colon == std::string_view::npos) {
      rows.fail(line, fmt::format("found column {} without a type, expected a header such as "
                                  "user_id:token, item_id:token, rating:float",
                                  excerpt(column)));
    }
    names.push_back(column.substr(0, colon));
  }
  return names;
}

// Where the columns of a split file are.
struct SplitColumns {
  std::size_t client, user, item, split;
};
constexpr std::size_t kNumSplitColumns = 4;

SplitColumns find_split_columns(Fields header, std::size_t line, const RowCollector& rows) {
  const auto place_of = [&](std::string_view name) {
    const auto place = find_column(header, name);
    if (!place || header.size() != kNumSplitColumns) {
      rows.fail(line, fmt::format("found header {}, expected client, user, item and split",
                                  excerpt(fmt::format("{}", fmt::join(header, ", ")))));
    }
    return *place;
  };
  return {place_of("client"), place_of("user"), place_of("item"), place_of("split")};
}

std::optional<Part> part_of(std::string_view name) {
  if (name == "train") return Part::train;
  if (name == "valid") return Part::valid;
  if (name == "test") return Part::test;
  return std::nullopt;
}

void add_split_row(Fields fields, std::size_t line, const SplitColumns& columns,
                   RowCollector& rows) {
  if (fields.size() != kNumSplitColumns) {
    return rows.reject(line, field_count_problem(fields.size(), kNumSplitColumns));
  }
  const SourceRow row{.line = line,
                      .user = fields[columns.user],
                      .item = fields[columns.item],
                      .client = fields[columns.client],
                      .part = part_of(fields[columns.split])};
  std::string problem =
      numeric_ids_problem({{"client", row.client}, {"user", row.user}, {"item", row.item}});
  if (problem.empty() && !row.part) {
    problem = fmt::format("found split {}, expected train, valid or test",
                          excerpt(fields[columns.split]));
  }
  if (!problem.empty()) return rows.reject(line, problem);
  rows.add(row);
}
}  // namespace

Contents read_movielens(std::string_view text, std::string_view delimiter, RowCollector& rows) {
  RecordReader reader(text, delimiter, Quoting::none);
  for_each_record(reader, rows, [&](Fields fields, std::size_t line) {
    if (fields.size() == kUsualColumns.count) {
      const std::string problem =
          numeric_ids_problem({{"user id", fields[0]}, {"item id", fields[1]}});
      if (!problem.empty()) return rows.reject(line, problem);
    }
    add_record(fields, line, kUsualColumns, rows);
  });
  return contents_of(kUsualColumns);
}

Contents read_book_crossing(std::string_view text, RowCollector& rows) {
  const bool is_latin1 = !is_utf8(text);
  RecordReader reader(text, ";", Quoting::backslash);
  const auto header = read_header(reader, rows.file());
  const auto columns = find_columns(header, LoadConfig{});
  if (!columns || !columns->rating) {
    LoadConfig expected;
    expected.user_column = "User-ID";
    expected.item_column = "ISBN";
    expected.rating_column = "Book-Rating";
    rows.fail(reader.line(), header_problem(header, expected));
  }
  for_each_record(reader, rows, [&](Fields fields, std::size_t line) {
    if (!is_latin1 || std::ranges::all_of(fields, is_utf8)) {
      return add_record(fields, line, *columns, rows);
    }
    // Public copies mix Latin-1 and UTF-8 rows, so every field is looked at for itself.
    std::vector<std::string> converted;
    for (const std::string_view field : fields) converted.push_back(to_utf8(field));
    const std::vector<std::string_view> views(converted.begin(), converted.end());
    add_record(views, line, *columns, rows);
  });
  return contents_of(*columns);
}

Contents read_amazon(std::string_view text, RowCollector& rows) {
  RecordReader reader(text, ",", Quoting::doubled);
  Columns columns = kUsualColumns;
  bool has_unnamed = false;
  bool is_first = true;
  while (reader.next()) {
    const Fields fields = reader.fields();
    if (!reader.problem().empty()) {
      rows.reject(reader.line(), reader.problem());
    } else if (is_first && is_amazon_header(fields)) {
      has_unnamed = fields.back().empty();
      columns =
          amazon_columns(fields.first(fields.size() - (has_unnamed ? 1 : 0)), rows, reader.line());
    } else {
      add_record(named_fields(fields, columns, has_unnamed), reader.line(), columns, rows);
    }
    is_first = false;
  }
  return contents_of(columns);
}

Contents read_delimited(std::string_view text, std::string_view delimiter, const LoadConfig& config,
                        RowCollector& rows) {
  RecordReader reader(text, delimiter, Quoting::doubled);
  const auto header = read_header(reader, rows.file());
  const auto columns = find_columns(header, config);
  if (!columns) rows.fail(reader.line(), header_problem(header, config));
  add_records(reader, *columns, rows);
  return contents_of(*columns);
}

Contents read_recbole(std::string_view text, RowCollector& rows) {
  RecordReader reader(text, "\t", Quoting::none);
  const auto header = read_header(reader, rows.file());
  const auto columns = find_columns(untyped(header, reader.line(), rows), LoadConfig{});
  if (!columns) {
    LoadConfig expected;
    expected.user_column = "user_id:token";
    expected.item_column = "item_id:token";
    rows.fail(reader.line(), header_problem(header, expected));
  }
  add_records(reader, *columns, rows);
  return contents_of(*columns);
}

Contents read_split(std::string_view text, RowCollector& rows) {
  RecordReader reader(text, "\t", Quoting::none);
  const Fields header = read_header(reader, rows.file());
  const SplitColumns columns = find_split_columns(header, reader.line(), rows);
  for_each_record(reader, rows, [&](Fields fields, std::size_t line) {
    add_split_row(fields, line, columns, rows);
  });
  return {};
}
}  // namespace fedhur::data
