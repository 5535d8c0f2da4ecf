// Ranges of client ids: which clients a certificate is for.
#pragma once
#include <string>
#include <vector>

#include "fedhur/base/index.hpp"

namespace fedhur::pki {
struct ClientRange {
  Index first = 0;
  Index last = 0;  // inclusive
  [[nodiscard]] bool operator==(const ClientRange&) const = default;
};

// "7", "0-24" or "3,5,8-9" as the fewest ranges, ascending: what overlaps or touches is one range.
// ConfigError for anything else, also for nothing, for 5-3, and for ids that no client can have.
[[nodiscard]] std::vector<ClientRange> parse_client_ranges(const std::string& text);
// What parse_client_ranges reads; canonical, whatever the order of the ranges.
[[nodiscard]] std::string to_text(const std::vector<ClientRange>& ranges);
[[nodiscard]] bool covers(const std::vector<ClientRange>& ranges, Index client);
// The fewest ranges that cover the same clients, ascending.
[[nodiscard]] std::vector<ClientRange> canonical(std::vector<ClientRange> ranges);
}  // namespace fedhur::pki
