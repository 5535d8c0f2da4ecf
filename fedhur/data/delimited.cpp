#include "fedhur/data/columns.hpp"
#include "fedhur/data/readers.hpp"
#include "fedhur/data/records.hpp"

namespace fedhur::data {
Contents read_delimited(std::string_view text, std::string_view delimiter, const LoadConfig& config,
                        RowCollector& rows) {
  RecordReader reader(text, delimiter, Quoting::doubled);
  const auto header = read_header(reader, rows);
  const auto columns = find_columns(header, config);
  if (!columns) rows.fail(reader.line(), header_problem(header, config));
  add_records(reader, *columns, rows);
  return {.has_ratings = columns->rating.has_value(),
          .has_timestamps = columns->timestamp.has_value()};
}
}  // namespace fedhur::data
