#include "fedhur/data/load.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "fedhur/base/hash.hpp"
#include "fedhur/data/detect.hpp"
#include "fedhur/data/encoding.hpp"
#include "fedhur/data/readers.hpp"
#include "fedhur/data/stored_file.hpp"
#include "fedhur/data/titles.hpp"

namespace fedhur::data {
namespace {
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

// "ml-100k" for ml-100k/u.data.gz, whose own name says nothing; else the file's name.
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

Dataset parse(std::string stored, const std::filesystem::path& name, const LoadConfig& config) {
  return parse_as_detected(std::move(stored), name, config).dataset;
}

Dataset load(const std::filesystem::path& path, const LoadConfig& config) {
  Parsed parsed = parse_as_detected(read_stored_file(path), path, config);
  parsed.dataset.item_titles = load_titles(path, parsed.format, config, parsed.dataset.item_names);
  return std::move(parsed.dataset);
}
}  // namespace fedhur::data
