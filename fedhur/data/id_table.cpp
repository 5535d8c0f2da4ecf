#include "fedhur/data/id_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace fedhur::data {
namespace {
constexpr std::uint64_t kSmallValues = std::uint64_t{1} << 22U;  // 16 MiB of table at most
constexpr std::size_t kMaxDigits = 18;
}  // namespace

std::optional<std::uint64_t> parse_plain_number(std::string_view text) {
  if (text.empty() || text.size() > kMaxDigits || (text[0] == '0' && text.size() > 1)) return {};
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

std::uint32_t IdTable::number_of(std::string_view id) {
  if (const auto value = parse_plain_number(id)) return number_of_value(*value);
  if (const auto known = by_text_.find(id); known != by_text_.end()) return known->second;
  const std::string_view text = texts_.emplace_back(id);
  const std::uint32_t number = append({.value = 0, .text = text});
  by_text_.emplace(text, number);
  return number;
}

std::optional<std::uint32_t> IdTable::find(std::string_view id) const {
  const auto found = [](const auto& map, const auto& key) -> std::optional<std::uint32_t> {
    const auto known = map.find(key);
    return known == map.end() ? std::nullopt : std::optional(known->second);
  };
  const auto value = parse_plain_number(id);
  if (!value) return found(by_text_, id);
  if (*value >= kSmallValues) return found(large_values_, *value);
  if (*value >= small_values_.size() || small_values_[*value] == 0) return std::nullopt;
  return small_values_[*value] - 1;
}

std::uint32_t IdTable::number_of_value(std::uint64_t value) {
  if (value >= kSmallValues) {
    const auto known = large_values_.find(value);
    if (known != large_values_.end()) return known->second;
    return large_values_[value] = append({.value = value, .text = {}});
  }
  if (value >= small_values_.size()) {
    small_values_.resize(std::max<std::size_t>(value + 1, small_values_.size() * 2), 0);
  }
  std::uint32_t& slot = small_values_[value];
  if (slot == 0) slot = append({.value = value, .text = {}}) + 1;
  return slot - 1;
}

std::uint32_t IdTable::append(Id id) {
  ids_.push_back(id);
  return static_cast<std::uint32_t>(ids_.size() - 1);
}

IdTable::Order IdTable::order() const {
  std::vector<std::uint32_t> sorted(ids_.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  if (texts_.empty()) {
    std::ranges::sort(sorted, {}, [&](std::uint32_t number) { return ids_[number].value; });
  }
  Order result;
  result.number.resize(ids_.size());
  result.names.reserve(ids_.size());
  for (const std::uint32_t number : sorted) {
    const Id& id = ids_[number];
    result.number[number] = static_cast<std::uint32_t>(result.names.size());
    result.names.push_back(id.text.empty() ? fmt::to_string(id.value) : std::string(id.text));
  }
  return result;
}
}  // namespace fedhur::data
