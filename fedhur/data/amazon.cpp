#include "fedhur/data/columns.hpp"
#include "fedhur/data/readers.hpp"
#include "fedhur/data/records.hpp"

namespace fedhur::data {
namespace {
using Fields = std::span<const std::string_view>;
constexpr Columns kAmazonColumns = {.user = 0, .item = 1, .rating = 2, .timestamp = 3, .count = 4};

// A comma at the end makes a last field without a name. What stands in it does not count: in public
// copies it holds remarks of whoever handled the file.
Fields named_fields(Fields fields, const Columns& columns, bool has_unnamed) {
  const bool has_more = fields.size() == columns.count + 1;
  return has_more && (has_unnamed || fields.back().empty()) ? fields.first(columns.count) : fields;
}

bool is_header(Fields fields) {
  float rating = 0.0F;
  return fields.size() < kAmazonColumns.count ||
         !parse_rating(fields[kAmazonColumns.rating.value()], rating);
}

Columns columns_of(Fields header, const RowCollector& rows, std::size_t line) {
  const LoadConfig config;
  const auto columns = find_columns(header, config);
  if (!columns || !columns->rating || !columns->timestamp) {
    rows.fail(line, header_problem(header, config) + ", 'rating' and 'timestamp'");
  }
  return *columns;
}
}  // namespace

Contents read_amazon(std::string_view text, RowCollector& rows) {
  RecordReader reader(text, ",", Quoting::doubled);
  Columns columns = kAmazonColumns;
  bool has_unnamed = false;
  bool is_first = true;
  while (reader.next()) {
    const Fields fields = reader.fields();
    if (!reader.problem().empty()) {
      rows.reject(reader.line(), reader.problem());
    } else if (is_first && is_header(fields)) {
      has_unnamed = fields.back().empty();
      columns =
          columns_of(fields.first(fields.size() - (has_unnamed ? 1 : 0)), rows, reader.line());
    } else {
      add_record(named_fields(fields, columns, has_unnamed), reader.line(), columns, rows);
    }
    is_first = false;
  }
  return {.has_ratings = true, .has_timestamps = true};
}
}  // namespace fedhur::data
