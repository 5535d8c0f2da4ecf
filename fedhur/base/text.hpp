// Text for people: aligned tables, units, quoting.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fedhur {
// Columns that UTF-8 text takes on a terminal; broken bytes count one each.
[[nodiscard]] std::size_t display_width(std::string_view text);
// The same text without what could steer a terminal: control characters become '?'.
[[nodiscard]] std::string printable(std::string_view text);

enum class Align : std::uint8_t { left, right };
[[nodiscard]] std::string padded(std::string_view text, std::size_t width, Align align);

// Rows of cells as lines; columns are as wide as their widest cell, two spaces apart. Columns
// without an alignment are right-aligned. Every line begins with `indent`.
[[nodiscard]] std::string format_table(const std::vector<std::vector<std::string>>& rows,
                                       const std::vector<Align>& alignments,
                                       std::string_view indent = "");

[[nodiscard]] std::string format_bytes(double bytes);    // "51.2 kB"
[[nodiscard]] std::string format_clock(double seconds);  // "1:02", "3:05:09"
constexpr std::string_view kThinSpace = "\u202f";
// "1 234 567"
[[nodiscard]] std::string format_count(std::int64_t count, std::string_view separator = " ");
// "1 user", "12 users", with thin spaces between thousands
[[nodiscard]] std::string plural(std::int64_t count, std::string_view noun);

[[nodiscard]] std::string csv_field(std::string_view text, char delimiter);  // RFC 4180
// As an argument that a shell reads back as this path.
[[nodiscard]] std::string shell_quoted(const std::filesystem::path& path);
}  // namespace fedhur
