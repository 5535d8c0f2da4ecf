#include <fmt/format.h>

#include <vector>

#include "fedhur/data/columns.hpp"
#include "fedhur/data/encoding.hpp"
#include "fedhur/data/readers.hpp"
#include "fedhur/data/records.hpp"

namespace fedhur::data {
namespace {
// The names without their types. A header without types is of some other format.
std::vector<std::string_view> untyped(std::span<const std::string_view> header, std::size_t line,
                                      const RowCollector& rows) {
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
}  // namespace

Contents read_recbole(std::string_view text, RowCollector& rows) {
  RecordReader reader(text, "\t", Quoting::none);
  const auto header = read_header(reader, rows);
  const auto columns = find_columns(untyped(header, reader.line(), rows), LoadConfig{});
  if (!columns) {
    LoadConfig expected;
    expected.user_column = "user_id:token";
    expected.item_column = "item_id:token";
    rows.fail(reader.line(), header_problem(header, expected));
  }
  add_records(reader, *columns, rows);
  return {.has_ratings = columns->rating.has_value(),
          .has_timestamps = columns->timestamp.has_value()};
}
}  // namespace fedhur::data
