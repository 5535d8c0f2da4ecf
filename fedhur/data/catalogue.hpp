// The items of a federation: public, and known to all its clients by the same numbers.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fedhur/data/interactions.hpp"

namespace fedhur::data {
struct Catalogue {
  std::vector<std::string> names;   // the sources' ids; the position is the item's number
  std::vector<std::string> titles;  // empty text where unknown; size as names
};

[[nodiscard]] Catalogue catalogue_of(const Dataset& dataset);
// As a file: tab-separated, a header `item title`, an item per line. DataError for a name that such
// a file cannot hold; in titles, tabs and line breaks become spaces.
[[nodiscard]] std::string to_text(const Catalogue& catalogue);
// DataError "name:line: ..." for anything else, an item that comes twice, and no item at all. A
// file without titles may have the header `item` alone.
[[nodiscard]] Catalogue parse_catalogue(std::string_view text, const std::filesystem::path& name);
[[nodiscard]] Catalogue load_catalogue(const std::filesystem::path& path);  // plain or gzipped

// The data set with the catalogue's items in place of its own. Rows with other items are a
// DataError, or passed over and counted in skipped_rows.
[[nodiscard]] Dataset renumber(Dataset dataset, const Catalogue& catalogue, bool skips_unknown);
}  // namespace fedhur::data
