#include "fedhur/data/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fedhur/base/error.hpp"
#include "fedhur/base/hash.hpp"
#include "fedhur/base/settings.hpp"
#include "fedhur/base/strings.hpp"
#include "fedhur/data/columns.hpp"
#include "fedhur/data/readers.hpp"
#include "fedhur/data/records.hpp"
#include "fedhur/data/stored_file.hpp"
#include "fedhur/data/titles.hpp"

namespace fedhur::data {
namespace {
using Cells = std::vector<std::string_view>;

// u.data and the folds u1.base .. ub.test that come with it.
bool is_movielens_100k(std::string_view name) {
  const bool is_fold = name.size() == 7 && name[0] == 'u' &&
                       std::string_view("12345ab").find(name[1]) != std::string_view::npos;
  return name == "u.data" || (is_fold && (name.ends_with(".base") || name.ends_with(".test")));
}

std::optional<Format> format_by_name(std::string_view name) {
  if (is_movielens_100k(name)) return Format::movielens_100k;
  if (name == "ratings.dat") return Format::movielens_1m;
  if (name == "bx-book-ratings.csv" || name == "bx_book_ratings.csv") return Format::book_crossing;
  if (name.ends_with(".inter")) return Format::recbole;
  if (name.ends_with("-split.tsv")) return Format::split;
  return std::nullopt;
}

// Enough for headers, whose quotes enclose whole fields and are never escaped.
Cells fields_of(std::string_view line, std::string_view delimiter) {
  RecordReader reader(line.substr(0, kMaxRecordBytes), delimiter, Quoting::none);
  if (!reader.next()) return {};
  Cells fields(reader.fields().begin(), reader.fields().end());
  for (std::string_view& field : fields) {
    if (field.size() >= 2 && field.starts_with('"') && field.ends_with('"')) {
      field = field.substr(1, field.size() - 2);
    }
  }
  return fields;
}

bool is_number(std::string_view text) {
  float number = 0.0F;
  return parse_rating(text, number);
}

bool is_movielens_row(const Cells& fields) {
  return fields.size() == 4 && std::ranges::all_of(fields, is_number);
}

bool is_amazon_row(const Cells& fields) {
  const bool is_complete = fields.size() == 4 || (fields.size() == 5 && fields[4].empty());
  return is_complete && is_number(fields[2]) && is_number(fields[3]);
}

bool is_amazon_header(const Cells& fields) {
  const auto columns = find_columns(fields, LoadConfig{});
  return columns && columns->user == 0 && columns->item == 1 && columns->rating == 2 &&
         columns->timestamp == 3;
}

bool is_split_header(const Cells& fields) {
  return fields.size() == 4 && find_column(fields, "client") && find_column(fields, "user") &&
         find_column(fields, "item") && find_column(fields, "split");
}

std::optional<Format> format_of_tabs(const std::string_view line, const LoadConfig& config) {
  const Cells fields = fields_of(line, "\t");
  const auto is_typed = [](std::string_view name) { return name.find(':') != name.npos; };
  if (is_split_header(fields)) return Format::split;
  if (is_movielens_row(fields)) return Format::movielens_100k;
  if (fields.size() >= 2 && std::ranges::all_of(fields, is_typed)) return Format::recbole;
  if (find_columns(fields, config)) return Format::tsv;
  return std::nullopt;
}

std::optional<Format> format_by_line(std::string_view line, std::string_view name,
                                     const LoadConfig& config) {
  if (is_movielens_row(fields_of(line, "::"))) return Format::movielens_1m;
  if (const auto format = format_of_tabs(line, config)) return format;
  if (find_columns(fields_of(line, ";"), LoadConfig{})) return Format::book_crossing;
  const Cells fields = fields_of(line, ",");
  if (is_amazon_row(fields)) return Format::amazon;
  if (name.starts_with("ratings_") && is_amazon_header(fields)) return Format::amazon;
  if (find_columns(fields, config)) return Format::csv;
  return std::nullopt;
}

std::string_view first_line(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Contents read_rows(Format format, std::string_view text, const LoadConfig& config,
                   RowCollector& rows) {
  switch (format) {
    case Format::movielens_100k:
      return read_movielens(text, "\t", rows);
    case Format::movielens_1m:
      return read_movielens(text, "::", rows);
    case Format::book_crossing:
      return read_book_crossing(text, rows);
    case Format::amazon:
      return read_amazon(text, rows);
    case Format::recbole:
      return read_recbole(text, rows);
    case Format::csv:
      return read_delimited(text, ",", config, rows);
    case Format::tsv:
      return read_delimited(text, "\t", config, rows);
    case Format::split:
      return read_split(text, rows);
    case Format::automatic:
      break;
  }
  throw std::logic_error("the format is detected before reading");
}

struct Parsed {
  Dataset dataset;
  Format format;
};

Parsed parse_as_detected(std::string stored, const std::filesystem::path& name,
                         const LoadConfig& config) {
  const std::string sha256 = sha256_hex(std::as_bytes(std::span(stored)));
  const std::string text = text_of(std::move(stored), name);
  const Format format =
      config.format == Format::automatic ? detect_format(name, text, config) : config.format;
  const bool check_utf8 = format != Format::book_crossing && !is_utf8(text);
  RowCollector rows(name.string(), config.skip_bad_rows, check_utf8);
  const Contents contents = read_rows(format, text, config, rows);
  Parsed parsed{.dataset = rows.finish(), .format = format};
  Dataset& dataset = parsed.dataset;
  dataset.name = name_of_data(name);
  dataset.sha256 = sha256;
  dataset.has_ratings = contents.has_ratings;
  dataset.has_timestamps =
      contents.has_timestamps &&
      std::ranges::any_of(dataset.interactions, [](const auto& row) { return row.timestamp != 0; });
  return parsed;
}
}  // namespace

std::string name_of_data(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 6> kGeneric = {
      "u.data", "ratings.dat", "ratings.csv", "interactions.csv", "interactions.tsv", "data.csv"};
  const std::filesystem::path file = plain_name(path);
  const std::string stem = file.stem().string();
  const bool is_generic = std::ranges::find(kGeneric, file.string()) != kGeneric.end() ||
                          stem.ends_with("-split") || stem.ends_with("-train");
  const std::string folder = std::filesystem::absolute(path).parent_path().filename().string();
  return is_generic && !folder.empty() ? folder : stem;
}

void declare_settings(Settings& settings, LoadConfig& config) {
  settings.add("data.format", config.format, "`auto` tells by name and content");
  settings.add("data.titles", config.titles,
               "item titles; `auto` looks beside the data, `none` has none",
               "a file, 'auto' or 'none'");
  const std::string column = "name in the header of csv and tsv files";
  settings.add("data.user_column", config.user_column, column);
  settings.add("data.item_column", config.item_column, column);
  settings.add("data.rating_column", config.rating_column, column);
  settings.add("data.timestamp_column", config.timestamp_column, column);
  settings.add("data.skip_bad_rows", config.skip_bad_rows,
               "bad rows are counted; otherwise the first is an error");
}

Format detect_format(const std::filesystem::path& path, std::string_view text,
                     const LoadConfig& config) {
  const std::string name = lowercase(plain_name(path));
  if (const auto format = format_by_name(name)) return *format;
  const std::string_view line = first_line(text);
  if (const auto format = format_by_line(line, name, config)) return *format;
  // The name's promise decides which reader complains about the header.
  if (name.ends_with(".csv")) return Format::csv;
  if (name.ends_with(".tsv")) return Format::tsv;
  throw DataError(fmt::format("{}:1: found {}, which is no known format; name one with format",
                              path.string(), excerpt(line)));
}

Dataset parse(std::string stored, const std::filesystem::path& name, const LoadConfig& config) {
  return parse_as_detected(std::move(stored), name, config).dataset;
}

Dataset load(const std::filesystem::path& path, const LoadConfig& config) {
  Parsed parsed = parse_as_detected(read_stored_file(path), path, config);
  parsed.dataset.item_titles = load_titles(path, parsed.format, config, parsed.dataset.item_names);
  return std::move(parsed.dataset);
}
}  // namespace fedhur::data
