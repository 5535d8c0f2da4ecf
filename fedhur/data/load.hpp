// From a file to a Dataset: which format it is, and the reader for each.
#pragma once
#include <filesystem>
#include <string>

#include "fedhur/base/config_table.hpp"
#include "fedhur/data/interactions.hpp"

namespace fedhur::data {
enum class Format : std::uint8_t {
  automatic,
  movielens_100k,
  movielens_1m,
  book_crossing,
  amazon,
  recbole,
  csv,
  tsv,
  split,
};
constexpr auto names_of(Format) {
  return std::array{"auto",   "movielens-100k", "movielens-1m", "book-crossing",
                    "amazon", "recbole",        "csv",          "tsv",
                    "split"};
}

struct LoadConfig {
  Format format = Format::automatic;
  std::string titles = "auto";
  std::string user_column = "user";
  std::string item_column = "item";
  std::string rating_column = "rating";
  std::string timestamp_column = "timestamp";
  bool skip_bad_rows = false;
};
void declare_settings(Settings& settings, LoadConfig& config);

// What the data in a file are called, read or not: "ml-100k" for ml-100k/u.data.gz, whose own name
// is a generic one; else the file's name.
[[nodiscard]] std::string name_of_data(const std::filesystem::path& path);

// DataError "file:line: ..." for anything that is not what the format promises. Plain and gzipped
// files are read alike.
[[nodiscard]] Dataset load(const std::filesystem::path& path, const LoadConfig& config);

// The same for a file's bytes in memory, which are called `name`; titles stay empty.
[[nodiscard]] Dataset parse(std::string stored, const std::filesystem::path& name,
                            const LoadConfig& config);

// By the file's name or else its first line; never `automatic`. DataError if neither tells.
[[nodiscard]] Format detect_format(const std::filesystem::path& name, std::string_view text,
                                   const LoadConfig& config);
}  // namespace fedhur::data
