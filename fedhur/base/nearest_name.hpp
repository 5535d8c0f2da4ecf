// "Did you mean ...?" for settings, methods and formats.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace fedhur {
// The candidate with the smallest edit distance, or empty where none is near enough to be meant.
[[nodiscard]] std::string nearest_name(std::string_view wrong,
                                       std::span<const std::string> candidates);
// "; did you mean 'x'?" or, if nothing is near, the given fallback.
[[nodiscard]] std::string hint(std::string_view wrong, std::span<const std::string> candidates,
                               std::string_view fallback = "");
}  // namespace fedhur
