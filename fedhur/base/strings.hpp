// Bytes that claim to be text: UTF-8 and Latin-1, parts, and what messages show of them.
#pragma once
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fedhur {
struct CodePoint {
  char32_t value = 0;
  std::size_t size = 1;  // in bytes
};
// What a text begins with; nothing unless that is well-formed UTF-8. The text is not empty.
[[nodiscard]] std::optional<CodePoint> first_code_point(std::string_view text);
[[nodiscard]] bool is_control(char32_t code_point);

[[nodiscard]] bool is_utf8(std::string_view text);
// UTF-8 without control characters.
[[nodiscard]] bool is_printable(std::string_view text);
// Text that is not UTF-8 is taken for Latin-1, which the old data sets are written in.
[[nodiscard]] std::string to_utf8(std::string_view text);
// A to Z as a to z, everything else as it is.
[[nodiscard]] std::string lowercase(std::string_view text);
// The parts of a text, one more than there are delimiters; views of it.
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text, char delimiter);
// The number that the whole text is; nothing if it is none, or too large.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}
// For messages: in single quotes, at most 40 bytes of it, unprintable bytes as \xNN.
[[nodiscard]] std::string excerpt(std::string_view text);
}  // namespace fedhur
