#include "fedhur/data/split_file.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <unordered_map>

#include "fedhur/base/error.hpp"
#include "fedhur/base/hash.hpp"
#include "fedhur/data/id_table.hpp"
#include "fedhur/data/load.hpp"

namespace fedhur::data {
namespace {
enum class Numbering : std::uint8_t { name, name_less_one, order };
constexpr std::array kNumberings = {Numbering::name, Numbering::name_less_one, Numbering::order};

// For every name of the split file its position among `names`, or nothing if one has no place
// there.
std::optional<std::vector<std::size_t>> match(const std::vector<std::string>& split_names,
                                              const std::vector<std::string>& names,
                                              Numbering numbering) {
  std::unordered_map<std::string, std::size_t> position;
  for (std::size_t i = 0; i < names.size(); ++i) position.emplace(names[i], i);
  std::vector<std::size_t> places;
  for (const std::string& name : split_names) {
    const auto number = parse_plain_number(name);
    if (!number) return std::nullopt;
    if (numbering == Numbering::order) {
      if (*number >= names.size()) return std::nullopt;
      places.push_back(*number);
      continue;
    }
    const auto found =
        position.find(numbering == Numbering::name ? name : fmt::format("{}", *number + 1));
    if (found == position.end()) return std::nullopt;
    places.push_back(found->second);
  }
  return places;
}

using RowOfPair = std::unordered_map<std::uint64_t, std::size_t>;

std::uint64_t pair_key(std::size_t user, std::size_t item) {
  return (static_cast<std::uint64_t>(user) << 32U) | static_cast<std::uint64_t>(item);
}

// Gives the split's rows what the data set knows of them; false if a row is not in the data set.
bool take_over(Dataset& split, const Dataset& dataset, const RowOfPair& rows,
               const std::vector<std::size_t>& users, const std::vector<std::size_t>& items) {
  for (Interaction& row : split.interactions) {
    const auto found = rows.find(pair_key(users[slot(row.user)], items[slot(row.item)]));
    if (found == rows.end()) return false;
    row.rating = dataset.interactions[found->second].rating;
    row.timestamp = dataset.interactions[found->second].timestamp;
  }
  for (std::size_t u = 0; u < users.size(); ++u) split.user_names[u] = dataset.user_names[users[u]];
  for (std::size_t i = 0; i < items.size(); ++i) {
    split.item_names[i] = dataset.item_names[items[i]];
    split.item_titles[i] = dataset.item_titles[items[i]];
  }
  split.has_ratings = dataset.has_ratings;
  split.has_timestamps = dataset.has_timestamps;
  split.name = dataset.name;
  const std::string both = dataset.sha256 + split.sha256;
  split.sha256 = sha256_hex(std::as_bytes(std::span(both)));
  return true;
}
}  // namespace

Dataset apply_split_file(const Dataset& dataset, const std::filesystem::path& path) {
  Dataset split = load(path, {.format = Format::split, .titles = "none"});
  RowOfPair rows;
  for (std::size_t i = 0; i < dataset.interactions.size(); ++i) {
    const Interaction& row = dataset.interactions[i];
    rows.emplace(pair_key(slot(row.user), slot(row.item)), i);
  }
  for (const Numbering user_numbering : kNumberings) {
    const auto users = match(split.user_names, dataset.user_names, user_numbering);
    if (!users) continue;
    for (const Numbering item_numbering : kNumberings) {
      const auto items = match(split.item_names, dataset.item_names, item_numbering);
      if (items && take_over(split, dataset, rows, *users, *items)) return split;
    }
  }
  throw DataError(
      fmt::format("{}: its rows are not rows of {}: expected its user and item numbers to be those "
                  "of the data, "
                  "those less one, or positions from 0",
                  path.string(), dataset.name));
}
}  // namespace fedhur::data
