#include <fmt/format.h>

#include <array>

#include "fedhur/data/columns.hpp"
#include "fedhur/data/encoding.hpp"
#include "fedhur/data/readers.hpp"
#include "fedhur/data/records.hpp"

namespace fedhur::data {
namespace {
using Fields = std::span<const std::string_view>;
constexpr std::size_t kNumColumns = 4;
constexpr std::array<std::string_view, kNumColumns> kNames = {"client", "user", "item", "split"};
using Places = std::array<std::size_t, kNumColumns>;  // of the names above

Places find_places(Fields header, std::size_t line, const RowCollector& rows) {
  Places places{};
  for (std::size_t i = 0; i < kNumColumns; ++i) {
    const auto place = find_column(header, kNames[i]);
    if (!place || header.size() != kNumColumns) {
      rows.fail(line, fmt::format("found header {}, expected client, user, item and split",
                                  excerpt(fmt::format("{}", fmt::join(header, ", ")))));
    }
    places[i] = *place;
  }
  return places;
}

std::optional<Part> part_of(std::string_view name) {
  if (name == "train") return Part::train;
  if (name == "valid") return Part::valid;
  if (name == "test") return Part::test;
  return std::nullopt;
}

void add_split_row(Fields fields, std::size_t line, const Places& places, RowCollector& rows) {
  if (fields.size() != kNumColumns) {
    return rows.reject(line, field_count_problem(fields.size(), kNumColumns));
  }
  const SourceRow row{.line = line,
                      .user = fields[places[1]],
                      .item = fields[places[2]],
                      .client = fields[places[0]],
                      .part = part_of(fields[places[3]])};
  std::string problem = numeric_id_problem("client", row.client);
  if (problem.empty()) problem = numeric_id_problem("user", row.user);
  if (problem.empty()) problem = numeric_id_problem("item", row.item);
  if (problem.empty() && !row.part) {
    problem =
        fmt::format("found split {}, expected train, valid or test", excerpt(fields[places[3]]));
  }
  if (!problem.empty()) return rows.reject(line, problem);
  rows.add(row);
}
}  // namespace

Contents read_split(std::string_view text, RowCollector& rows) {
  RecordReader reader(text, "\t", Quoting::none);
  const Fields header = read_header(reader, rows);
  const Places places = find_places(header, reader.line(), rows);
  while (reader.next()) {
    if (!reader.problem().empty()) {
      rows.reject(reader.line(), reader.problem());
    } else {
      add_split_row(reader.fields(), reader.line(), places, rows);
    }
  }
  return {};
}
}  // namespace fedhur::data
