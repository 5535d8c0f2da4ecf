#include "fedhur/data/columns.hpp"
#include "fedhur/data/readers.hpp"
#include "fedhur/data/records.hpp"

namespace fedhur::data {
namespace {
constexpr Columns kMovieLensColumns = {
    .user = 0, .item = 1, .rating = 2, .timestamp = 3, .count = 4};

std::string movielens_problem(const RecordReader& record) {
  if (!record.problem().empty()) return record.problem();
  const auto fields = record.fields();
  if (fields.size() != kMovieLensColumns.count)
    return field_count_problem(fields.size(), kMovieLensColumns.count);
  std::string problem = numeric_id_problem("user id", fields[kMovieLensColumns.user]);
  if (problem.empty()) problem = numeric_id_problem("item id", fields[kMovieLensColumns.item]);
  return problem;
}
}  // namespace

Contents read_movielens(std::string_view text, std::string_view delimiter, RowCollector& rows) {
  RecordReader reader(text, delimiter, Quoting::none);
  while (reader.next()) {
    if (const std::string problem = movielens_problem(reader); !problem.empty()) {
      rows.reject(reader.line(), problem);
    } else {
      add_record(reader.fields(), reader.line(), kMovieLensColumns, rows);
    }
  }
  return {.has_ratings = true, .has_timestamps = true};
}
}  // namespace fedhur::data
