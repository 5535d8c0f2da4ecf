#include <algorithm>
#include <vector>

#include "fedhur/data/columns.hpp"
#include "fedhur/data/encoding.hpp"
#include "fedhur/data/readers.hpp"
#include "fedhur/data/records.hpp"

namespace fedhur::data {
namespace {
// Public copies mix Latin-1 and UTF-8 rows, so every id is looked at for itself.
void add_converted(std::span<const std::string_view> fields, std::size_t line,
                   const Columns& columns, RowCollector& rows) {
  std::vector<std::string> converted;
  converted.reserve(fields.size());
  for (const std::string_view field : fields) converted.push_back(to_utf8(field));
  const std::vector<std::string_view> views(converted.begin(), converted.end());
  add_record(views, line, columns, rows);
}
}  // namespace

Contents read_book_crossing(std::string_view text, RowCollector& rows) {
  const bool is_latin1 = !is_utf8(text);
  RecordReader reader(text, ";", Quoting::backslash);
  const auto header = read_header(reader, rows);
  const auto columns = find_columns(header, LoadConfig{});
  if (!columns || !columns->rating) {
    LoadConfig expected;
    expected.user_column = "User-ID";
    expected.item_column = "ISBN";
    expected.rating_column = "Book-Rating";
    rows.fail(reader.line(), header_problem(header, expected));
  }
  while (reader.next()) {
    if (!reader.problem().empty()) {
      rows.reject(reader.line(), reader.problem());
    } else if (is_latin1 && !std::ranges::all_of(reader.fields(), is_utf8)) {
      add_converted(reader.fields(), reader.line(), *columns, rows);
    } else {
      add_record(reader.fields(), reader.line(), *columns, rows);
    }
  }
  return {.has_ratings = true, .has_timestamps = columns->timestamp.has_value()};
}
}  // namespace fedhur::data
