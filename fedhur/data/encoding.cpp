#include "fedhur/data/encoding.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace fedhur::data {
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

// Length of the well-formed sequence that begins with a byte >= 0x80, or 0.
std::size_t sequence_length(std::string_view rest) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                             : (lead & 0xf0U) == 0xe0       ? 3
                             : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                            : 0;
  if (length == 0 || rest.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool beyond_unicode = lead == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond_unicode ? 0 : length;
}
}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = skip_ascii(text, 0); at < text.size(); at = skip_ascii(text, at)) {
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0) return false;
    at += length;
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
}  // namespace fedhur::data
