// The source's ids, numbered 0, 1, ... as they appear.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fedhur::data {
// The value of a whole number as it is usually written: digits only, no leading zeros, 18 at most.
[[nodiscard]] std::optional<std::uint64_t> parse_plain_number(std::string_view text);

class IdTable {
 public:
  [[nodiscard]] std::uint32_t number_of(std::string_view id);  // a new one if it was never seen
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view id) const;
  [[nodiscard]] std::size_t size() const { return ids_.size(); }

  struct Order {
    std::vector<std::string> names;     // by final number
    std::vector<std::uint32_t> number;  // final number by number of first appearance
  };
  // Numerical order if every id is a plain number, else the order of appearance.
  [[nodiscard]] Order order() const;

 private:
  struct Id {
    std::uint64_t value;    // where text is empty
    std::string_view text;  // points into texts_
  };
  [[nodiscard]] std::uint32_t number_of_value(std::uint64_t value);
  [[nodiscard]] std::uint32_t append(Id id);

  std::vector<Id> ids_;
  std::vector<std::uint32_t> small_values_;  // number + 1 by value; most ids are small numbers
  std::unordered_map<std::uint64_t, std::uint32_t> large_values_;
  std::unordered_map<std::string_view, std::uint32_t> by_text_;
  std::deque<std::string> texts_;
};
}  // namespace fedhur::data
