// Who touched what: the rows of a data set with compact ids, and the names behind them.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fedhur/base/ids.hpp"

namespace fedhur::data {
// An id as a position in a vector.
template <class Id>
[[nodiscard]] constexpr std::size_t slot(Id id) {
  return static_cast<std::size_t>(index_of(id));
}

enum class Part : std::uint8_t { train, valid, test };

struct Interaction {
  UserId user{};
  ItemId item{};
  float rating = 1.0F;         // 1 where the source has none
  std::int64_t timestamp = 0;  // 0 where the source has none
};

// Users and items are numbered 0, 1, ... without gaps. Ids that are whole numbers throughout keep
// their numerical order, others the order of their first row.
struct Dataset {
  std::string name;                       // "ml-100k", or the file's name
  std::vector<Interaction> interactions;  // no (user, item) pair twice, in file order
  std::vector<std::string> user_names;    // the source's own ids
  std::vector<std::string> item_names;
  std::vector<std::string> item_titles;  // UTF-8; empty text where unknown; size as item_names
  bool has_ratings = false;
  bool has_timestamps = false;  // false also where every timestamp is 0
  // Only where the source says so (format `split`), one per interaction and one per user:
  std::vector<Part> parts;
  std::vector<ClientId> user_clients;
  std::string sha256;  // of the source file's bytes as stored; of the settings for synthetic
  std::int64_t skipped_rows = 0;  // bad rows passed over, with skip_bad_rows

  [[nodiscard]] Index num_users() const { return static_cast<Index>(user_names.size()); }
  [[nodiscard]] Index num_items() const { return static_cast<Index>(item_names.size()); }
};

// Per user a sorted list of items, all lists in one piece of memory.
class UserItems {
 public:
  UserItems() = default;
  // One list per user, sorted here; repeated items are kept once.
  explicit UserItems(const std::vector<std::vector<ItemId>>& lists);

  [[nodiscard]] Index num_users() const { return static_cast<Index>(offsets_.size()) - 1; }
  [[nodiscard]] Index size() const { return static_cast<Index>(items_.size()); }
  [[nodiscard]] std::span<const ItemId> of(Index user) const {
    const auto first = offsets_[static_cast<std::size_t>(user)];
    return std::span(items_).subspan(first, offsets_[static_cast<std::size_t>(user) + 1] - first);
  }
  [[nodiscard]] bool contains(Index user, ItemId item) const;  // binary search

 private:
  std::vector<std::size_t> offsets_ = {0};
  std::vector<ItemId> items_;
};
}  // namespace fedhur::data
