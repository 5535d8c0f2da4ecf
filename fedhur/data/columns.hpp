// Which column of a table holds what, by the names in its header.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "fedhur/data/load.hpp"
#include "fedhur/data/records.hpp"
#include "fedhur/data/row_collector.hpp"

namespace fedhur::data {
struct Columns {
  std::size_t user = 0;
  std::size_t item = 0;
  std::optional<std::size_t> rating;
  std::optional<std::size_t> timestamp;
  std::size_t count = 0;  // of the whole table
};

// Names from the settings are taken literally; where a setting is left at its default, common names
// such as reviewerID, asin or movieId count as well, in any case and with - or _ or nothing between
// words. Empty if there is no column for users or items, or none of a name that was asked for.
[[nodiscard]] std::optional<Columns> find_columns(std::span<const std::string_view> header,
                                                  const LoadConfig& config);
// The one column of that exact name, in any case.
[[nodiscard]] std::optional<std::size_t> find_column(std::span<const std::string_view> header,
                                                     std::string_view name);
// "the header 'a,b' with a column for users ('user') and ..." for messages.
[[nodiscard]] std::string header_problem(std::span<const std::string_view> header,
                                         const LoadConfig& config);

// The first record, which is the header. Fails, naming the file, if there is none.
[[nodiscard]] std::span<const std::string_view> read_header(RecordReader& reader,
                                                            const std::filesystem::path& file);
// "found 3 fields, expected 4".
[[nodiscard]] std::string field_count_problem(std::size_t found, std::size_t expected);
// One record as a row; what is wrong with it goes to rows.reject().
void add_record(std::span<const std::string_view> fields, std::size_t line, const Columns& columns,
                RowCollector& rows);
// All that is left in the reader: use(fields, line) for records, rows.reject() for the rest.
template <class Use>
void for_each_record(RecordReader& reader, RowCollector& rows, const Use& use) {
  while (reader.next()) {
    if (!reader.problem().empty()) {
      rows.reject(reader.line(), reader.problem());
    } else {
      use(reader.fields(), reader.line());
    }
  }
}
// All that is left in the reader, as rows.
void add_records(RecordReader& reader, const Columns& columns, RowCollector& rows);
}  // namespace fedhur::data
