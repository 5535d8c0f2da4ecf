// What a CA remembers of every certificate it has issued: a line of JSON each.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fedhur/pki/identity.hpp"

namespace fedhur::pki {
struct IssueEntry {
  std::string serial;
  Identity identity;
  std::string key_sha256;       // renewals have it in common
  std::int64_t not_before = 0;  // unix seconds
  std::int64_t not_after = 0;
  bool is_revoked = false;
};

// DataError with the number of the line that cannot be read.
[[nodiscard]] std::vector<IssueEntry> parse_issue_record(const std::string& text);
[[nodiscard]] std::string to_json_lines(const std::vector<IssueEntry>& entries);
}  // namespace fedhur::pki
