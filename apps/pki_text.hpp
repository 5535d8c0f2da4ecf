// What `fedhur pki` tells of certificates, requests and CAs: for people, and as JSON for scripts.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "fedhur/pki/authority.hpp"
#include "fedhur/pki/certificate.hpp"
#include "fedhur/pki/request.hpp"
#include "fedhur/pki/revocation.hpp"

namespace fedhur::apps {
// What a CA says of a certificate.
struct Opinion {
  std::optional<std::string> fault;
  std::optional<bool> is_revoked;  // unknown without a revocation list
};

// "client hospital-a for clients 0-24, until 2027-11-17 05:03 UTC, serial ..."
[[nodiscard]] std::string format_line(const pki::CertificateInfo& info);

[[nodiscard]] std::string format_text(const pki::CertificateInfo& info,
                                      const std::optional<Opinion>& opinion, std::int64_t now);
[[nodiscard]] std::string format_text(const pki::RequestInfo& info);
[[nodiscard]] std::string format_text(const pki::RevocationInfo& info, std::int64_t now);
[[nodiscard]] std::string format_text(const pki::AuthorityState& state, std::int64_t now);

[[nodiscard]] nlohmann::ordered_json to_json(const pki::CertificateInfo& info,
                                             const std::optional<Opinion>& opinion,
                                             std::int64_t now);
[[nodiscard]] nlohmann::ordered_json to_json(const pki::RequestInfo& info);
[[nodiscard]] nlohmann::ordered_json to_json(const pki::RevocationInfo& info, std::int64_t now);
[[nodiscard]] nlohmann::ordered_json to_json(const pki::AuthorityState& state, std::int64_t now);
}  // namespace fedhur::apps
