#include "fedhur/pki/client_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "fedhur/base/error.hpp"
#include "fedhur/base/ids.hpp"
#include "fedhur/base/strings.hpp"

namespace fedhur::pki {
namespace {
constexpr Index kLastClient = std::numeric_limits<std::underlying_type_t<ClientId>>::max();
// Together they still fit into a handshake, which carries the certificate.
constexpr std::size_t kMaxRanges = 1000;

std::optional<Index> parse_id(std::string_view text) {
  const auto id = parse_number<Index>(text);
  return id && text.front() != '-' && *id <= kLastClient ? id : std::nullopt;
}

std::optional<ClientRange> parse_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_id(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_id(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return ClientRange{.first = *first, .last = *last};
}

}  // namespace

std::vector<ClientRange> parse_client_ranges(const std::string& text) {
  std::vector<ClientRange> ranges;
  for (const std::string_view part : split_at(text, ',')) {
    const auto range = parse_range(part);
    if (!range) {
      throw ConfigError(fmt::format(
          "clients {}: {} is not an id from 0 to {} or a range of them; expected such as 7, "
          "0-24 or 3,5,8-9",
          excerpt(text), excerpt(part), kLastClient));
    }
    ranges.push_back(*range);
  }
  ranges = canonical(std::move(ranges));
  if (ranges.size() > kMaxRanges) {
    throw ConfigError(
        fmt::format("clients {}: {} ranges are too many for one certificate, expected at most {}",
                    excerpt(text), ranges.size(), kMaxRanges));
  }
  return ranges;
}

std::string to_text(const std::vector<ClientRange>& ranges) {
  std::string text;
  for (const auto& [first, last] : canonical(ranges)) {
    if (!text.empty()) text += ',';
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

bool covers(const std::vector<ClientRange>& ranges, Index client) {
  return std::ranges::any_of(ranges, [client](const ClientRange& range) {
    return range.first <= client && client <= range.last;
  });
}

std::vector<ClientRange> canonical(std::vector<ClientRange> ranges) {
  std::ranges::sort(ranges, {}, &ClientRange::first);
  std::vector<ClientRange> merged;
  for (const ClientRange& range : ranges) {
    if (!merged.empty() && range.first <= merged.back().last + 1) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}
}  // namespace fedhur::pki
