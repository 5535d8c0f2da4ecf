// What the items are called, from the files that come with the data sets.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fedhur/data/load.hpp"

namespace fedhur::data {
// A file with titles as a table: ids by column, and one title per row.
struct TitleTable {
  bool has_header = false;                    // without one ids are numbers from 1
  std::vector<std::string> columns;           // names of the id columns
  std::vector<std::vector<std::string>> ids;  // ids[column][row]
  std::vector<std::string> titles;            // UTF-8; without a column `title` asin or isbn
};

// `text` is the file's content after text_of(). Bad rows are a DataError, or passed over.
[[nodiscard]] TitleTable parse_titles(std::string_view text, const std::filesystem::path& name,
                                      bool skip_bad_rows);

struct MatchedTitles {
  std::vector<std::string> titles;  // one per item, empty where there is none
  std::size_t num_known = 0;        // items that have a row in the table
};
// `numbers_from_zero` says that items are numbered from 0 although u.item and movies.dat number
// them from 1, as split files do. Of several id columns item_<variant> counts if there is one
// (variant is "x" for x-split.tsv), else the one that knows the most items.
[[nodiscard]] MatchedTitles match_titles(const TitleTable& table,
                                         const std::vector<std::string>& item_names,
                                         bool numbers_from_zero, std::string_view variant);

// Titles for the data set of `data_path`, as config.titles says: auto, none, or a file,
// which has to exist.
[[nodiscard]] std::vector<std::string> load_titles(const std::filesystem::path& data_path,
                                                   Format format, const LoadConfig& config,
                                                   const std::vector<std::string>& item_names);
}  // namespace fedhur::data
