#include "fedhur/data/interactions.hpp"

#include <algorithm>

namespace fedhur::data {
UserItems::UserItems(const std::vector<std::vector<ItemId>>& lists) {
  std::size_t total = 0;
  for (const auto& list : lists) total += list.size();
  items_.reserve(total);
  offsets_.reserve(lists.size() + 1);
  for (const auto& list : lists) {
    const auto first = static_cast<std::ptrdiff_t>(items_.size());
    items_.insert(items_.end(), list.begin(), list.end());
    std::sort(items_.begin() + first, items_.end());
    items_.erase(std::unique(items_.begin() + first, items_.end()), items_.end());
    offsets_.push_back(items_.size());
  }
}

bool UserItems::contains(Index user, ItemId item) const {
  return std::ranges::binary_search(of(user), item);
}
}  // namespace fedhur::data
