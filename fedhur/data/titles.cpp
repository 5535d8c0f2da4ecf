#include "fedhur/data/titles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "fedhur/base/strings.hpp"
#include "fedhur/data/columns.hpp"
#include "fedhur/data/records.hpp"
#include "fedhur/data/stored_file.hpp"

namespace fedhur::data {
namespace {
using Fields = std::span<const std::string_view>;

// How a file of titles is written.
struct TitleFormat {
  std::string_view delimiter;
  Quoting quoting = Quoting::none;
  bool has_header = true;
  bool is_html = false;  // Book-Crossing was taken from web pages
};
constexpr TitleFormat kMovieLens100k{.delimiter = "|",
                                     .has_header = false};                   // u.item: id|title|...
constexpr TitleFormat kMovieLens1m{.delimiter = "::", .has_header = false};  // movies.dat
constexpr TitleFormat kBookCrossing{
    .delimiter = ";", .quoting = Quoting::backslash, .is_html = true};  // "ISBN";"Book-Title";...
constexpr TitleFormat kCsv{.delimiter = ",", .quoting = Quoting::doubled};
constexpr TitleFormat kTsv{.delimiter = "\t"};

TitleFormat find_title_format(std::string_view name, std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto has = [&](std::string_view part) { return line.find(part) != line.npos; };
  if (name == "u.item") return kMovieLens100k;
  if (name == "movies.dat") return kMovieLens1m;
  if (name.ends_with(".tsv")) return kTsv;
  if (has("\";\"")) return kBookCrossing;
  if (name.ends_with(".csv")) return kCsv;
  if (has("::")) return kMovieLens1m;
  if (has("\t")) return kTsv;
  return has("|") ? kMovieLens100k : kCsv;
}

// Where the parts of a row are.
struct TitleLayout {
  std::vector<std::size_t> ids;
  std::size_t title = 0;
  std::size_t min_fields = 0;
};

bool is_id_column(std::string_view name) {
  constexpr std::array<std::string_view, 9> kKnown = {
      "item", "id", "item_id", "itemid", "asin", "parent_asin", "isbn", "movieid", "productid"};
  return std::ranges::find(kKnown, name) != kKnown.end() || name.starts_with("item_");
}

std::optional<std::size_t> find_title_column(Fields header) {
  for (const std::string_view name : {"title", "book_title", "name", "asin", "isbn"}) {
    if (const auto column = find_column(header, name)) return column;
  }
  return std::nullopt;
}

// Notes the id columns in `table` as well. Empty if this is no header of a table of titles.
std::optional<TitleLayout> layout_of(Fields header, TitleTable& table) {
  const auto title = find_title_column(header);
  if (!title) return std::nullopt;
  TitleLayout layout{.ids = {}, .title = *title, .min_fields = header.size()};
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string name = lowercase(header[i]);
    if (!is_id_column(name)) continue;
    layout.ids.push_back(i);
    table.columns.push_back(name);
  }
  if (layout.ids.empty()) return std::nullopt;
  return layout;
}

std::string without_entities(std::string title) {
  constexpr std::string_view kEntity = "&amp;";
  for (std::size_t at = title.find(kEntity); at != std::string::npos;
       at = title.find(kEntity, at + 1)) {
    title.replace(at, kEntity.size(), "&");
  }
  return title;
}

void add_title(Fields fields, const TitleLayout& layout, bool is_html, TitleTable& table) {
  for (std::size_t column = 0; column < layout.ids.size(); ++column) {
    table.ids[column].push_back(to_utf8(fields[layout.ids[column]]));
  }
  std::string title = to_utf8(fields[layout.title]);
  table.titles.push_back(is_html ? without_entities(std::move(title)) : std::move(title));
}

TitleLayout read_layout(RecordReader& reader, const std::filesystem::path& name,
                        TitleTable& table) {
  if (!table.has_header) {
    table.columns = {"item"};
    return {.ids = {0}, .title = 1, .min_fields = 2};
  }
  const Fields header = read_header(reader, name);
  const auto layout = layout_of(header, table);
  if (!layout) {
    fail_at(name, reader.line(),
            fmt::format("found header {}, expected columns such as 'item' and 'title'",
                        excerpt(fmt::format("{}", fmt::join(header, ", ")))));
  }
  return *layout;
}

std::unordered_map<std::string_view, std::size_t> rows_by_id(const std::vector<std::string>& ids) {
  std::unordered_map<std::string_view, std::size_t> rows;
  rows.reserve(ids.size());
  for (std::size_t row = 0; row < ids.size(); ++row) rows.emplace(ids[row], row);
  return rows;
}

// `shifted`: the table numbers items from 1, the data set from 0.
MatchedTitles match_column(const TitleTable& table, std::size_t column,
                           const std::vector<std::string>& item_names, bool shifted) {
  const auto rows = rows_by_id(table.ids[column]);
  MatchedTitles matched{.titles = std::vector<std::string>(item_names.size()), .num_known = 0};
  for (std::size_t item = 0; item < item_names.size(); ++item) {
    const auto number = shifted ? parse_plain_number(item_names[item]) : std::nullopt;
    const auto row = rows.find(number ? fmt::to_string(*number + 1) : item_names[item]);
    if (row == rows.end()) continue;
    matched.titles[item] = table.titles[row->second];
    ++matched.num_known;
  }
  return matched;
}

// Of x-split.tsv and x-train.tsv the x.
std::string variant_of(const std::filesystem::path& data_path) {
  const std::string stem = std::filesystem::path(plain_name(data_path)).stem().string();
  for (const std::string_view ending : {"-split", "-train"}) {
    if (stem.ends_with(ending)) return lowercase(stem.substr(0, stem.size() - ending.size()));
  }
  return {};
}

std::vector<std::string_view> usual_names(Format format) {
  switch (format) {
    case Format::movielens_100k:
      return {"u.item", "items.tsv"};
    case Format::movielens_1m:
      return {"movies.dat", "items.tsv"};
    case Format::book_crossing:
      return {"BX-Books.csv", "BX_Books.csv", "items.tsv"};
    case Format::split:
      return {"items.tsv", "items.csv", "u.item", "movies.dat"};
    default:
      return {"items.tsv", "items.csv", "movies.csv"};
  }
}

std::optional<std::filesystem::path> find_beside(const std::filesystem::path& data_path,
                                                 Format format) {
  for (const std::string_view name : usual_names(format)) {
    for (const std::string_view ending : {"", ".gz"}) {
      const auto candidate = data_path.parent_path() / fmt::format("{}{}", name, ending);
      std::error_code ignored;  // what cannot be looked at is not there
      if (std::filesystem::is_regular_file(candidate, ignored)) return candidate;
    }
  }
  return std::nullopt;
}
}  // namespace

TitleTable parse_titles(std::string_view text, const std::filesystem::path& name,
                        bool skip_bad_rows) {
  TitleTable table;
  const TitleFormat format = find_title_format(plain_name(name), text);
  table.has_header = format.has_header;
  RecordReader reader(text, format.delimiter, format.quoting);
  const TitleLayout layout = read_layout(reader, name, table);
  table.ids.resize(layout.ids.size());
  while (reader.next()) {
    const Fields fields = reader.fields();
    std::string problem = reader.problem();
    if (problem.empty() && fields.size() < layout.min_fields) {
      problem = field_count_problem(fields.size(), layout.min_fields);
    }
    if (problem.empty()) {
      add_title(fields, layout, format.is_html, table);
    } else if (!skip_bad_rows) {
      fail_at(name, reader.line(), problem);
    }
  }
  return table;
}

MatchedTitles match_titles(const TitleTable& table, const std::vector<std::string>& item_names,
                           bool numbers_from_zero, std::string_view variant) {
  const bool shifted = numbers_from_zero && !table.has_header;
  const std::string own_column = fmt::format("item_{}", variant);
  MatchedTitles best{.titles = std::vector<std::string>(item_names.size()), .num_known = 0};
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    MatchedTitles matched = match_column(table, column, item_names, shifted);
    if (!variant.empty() && table.columns[column] == own_column) return matched;
    if (matched.num_known > best.num_known) best = std::move(matched);
  }
  return best;
}

std::vector<std::string> load_titles(const std::filesystem::path& data_path, Format format,
                                     const LoadConfig& config,
                                     const std::vector<std::string>& item_names) {
  std::optional<std::filesystem::path> path;
  if (config.titles == "auto") {
    path = find_beside(data_path, format);
  } else if (config.titles != "none") {
    path = config.titles;
  }
  if (!path) return std::vector<std::string>(item_names.size());
  const std::string text = text_of(read_stored_file(*path), *path);
  const TitleTable table = parse_titles(text, *path, config.skip_bad_rows);
  auto matched = match_titles(table, item_names, format == Format::split, variant_of(data_path));
  // The numbers of a split mean something only together with the right table: one that was found by
  // its name and does not know all of them is that of another split.
  const bool is_foreign =
      format == Format::split && config.titles == "auto" && matched.num_known < item_names.size();
  return is_foreign ? std::vector<std::string>(item_names.size()) : std::move(matched.titles);
}
}  // namespace fedhur::data
