#include "fedhur/base/strings.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace fedhur {
namespace {
constexpr std::size_t kExcerptBytes = 40;

std::size_t skip_ascii(std::string_view text, std::size_t at) {
  while (at + sizeof(std::uint64_t) <= text.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080ULL) != 0) break;
    at += sizeof word;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

std::optional<CodePoint> first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return CodePoint{.value = lead};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return std::nullopt;
  char32_t value = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return std::nullopt;
    value = (value << 6U) | (byte(i) & 0x3fU);
  }
  const bool overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (overlong || surrogate || value > 0x10ffff) return std::nullopt;
  return CodePoint{.value = value, .size = size};
}

bool is_control(char32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0);
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = skip_ascii(text, 0); at < text.size(); at = skip_ascii(text, at)) {
    const auto point = first_code_point(text.substr(at));
    if (!point) return false;
    at += point->size;
  }
  return true;
}

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const auto point = first_code_point(text);
    if (!point || is_control(point->value)) return false;
    text.remove_prefix(point->size);
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string result;
  result.reserve(text.size() + text.size() / 8);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      result.push_back(c);
    } else {
      result.push_back(static_cast<char>(0xc0U | (byte >> 6U)));
      result.push_back(static_cast<char>(0x80U | (byte & 0x3fU)));
    }
  }
  return result;
}

std::string lowercase(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::vector<std::string_view> split_at(std::string_view text, char delimiter) {
  std::vector<std::string_view> parts;
  for (std::size_t first = 0; first <= text.size(); first += parts.back().size() + 1) {
    parts.push_back(text.substr(first, text.find(delimiter, first) - first));
  }
  return parts;
}

std::string excerpt(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, kExcerptBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      result.push_back(c);
    } else {
      result += fmt::format("\\x{:02x}", byte);
    }
  }
  if (text.size() > kExcerptBytes) result += "...";
  return result + "'";
}
}  // namespace fedhur
