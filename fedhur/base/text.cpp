#include "fedhur/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fedhur/base/strings.hpp"

namespace fedhur {
namespace {
struct CodePointRange {
  char32_t first;
  char32_t last;
};
// Coarse, but right for the scripts that titles are written in.
constexpr std::array kZeroWide = {
    CodePointRange{0x0300, 0x036F}, CodePointRange{0x1AB0, 0x1AFF}, CodePointRange{0x1DC0, 0x1DFF},
    CodePointRange{0x200B, 0x200F}, CodePointRange{0x20D0, 0x20FF}, CodePointRange{0xFE00, 0xFE0F},
};
constexpr std::array kDoubleWide = {
    CodePointRange{0x1100, 0x115F},   CodePointRange{0x2E80, 0xA4CF},
    CodePointRange{0xAC00, 0xD7A3},   CodePointRange{0xF900, 0xFAFF},
    CodePointRange{0xFE30, 0xFE6F},   CodePointRange{0xFF00, 0xFF60},
    CodePointRange{0xFFE0, 0xFFE6},   CodePointRange{0x1F300, 0x1F64F},
    CodePointRange{0x1F680, 0x1F6FF}, CodePointRange{0x1F900, 0x1F9FF},
    CodePointRange{0x20000, 0x3FFFD},
};

template <std::size_t size>
bool is_in(const std::array<CodePointRange, size>& ranges, char32_t value) {
  return std::ranges::any_of(ranges, [value](const CodePointRange& range) {
    return range.first <= value && value <= range.last;
  });
}
}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const auto point = first_code_point(text);
    if (!point || !is_in(kZeroWide, point->value)) ++width;
    if (point && is_in(kDoubleWide, point->value)) ++width;
    text.remove_prefix(point ? point->size : 1);
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto point = first_code_point(text);
    const std::size_t size = point ? point->size : 1;
    result += point && !is_control(point->value) ? text.substr(0, size) : std::string_view("?");
    text.remove_prefix(size);
  }
  return result;
}

std::string padded(std::string_view text, std::size_t width, Align align) {
  const std::size_t used = display_width(text);
  const std::string spaces(used < width ? width - used : 0, ' ');
  return align == Align::left ? std::string(text) + spaces : spaces + std::string(text);
}

std::string format_table(const std::vector<std::vector<std::string>>& rows,
                         const std::vector<Align>& alignments, std::string_view indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += padded(row[i], widths[i], i < alignments.size() ? alignments[i] : Align::right);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string format_bytes(double bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 999.95 && unit + 1 < kUnits.size()) {
    bytes /= 1000.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string format_clock(double seconds) {
  constexpr double kLongest = 1e9;  // 30 years: more digits tell no more
  if (!(seconds >= 0.0)) return "?";
  const std::int64_t whole = std::llround(std::min(seconds, kLongest));
  const std::int64_t hours = whole / 3600;
  const std::int64_t minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string format_count(std::int64_t count, std::string_view separator) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, separator);
  }
  return digits;
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", format_count(count, kThinSpace), noun, count == 1 ? "" : "s");
}

std::string csv_field(std::string_view text, char delimiter) {
  const std::string special = std::string("\"\r\n") + delimiter;
  if (text.find_first_of(special) == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string shell_quoted(const std::filesystem::path& path) {
  std::string text = path.string();
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+:@%,=").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}
}  // namespace fedhur
