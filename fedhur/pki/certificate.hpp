// What a certificate says, and whether to believe it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/pki/client_ranges.hpp"
#include "fedhur/pki/identity.hpp"

namespace fedhur::pki {
struct CertificateInfo {
  std::string name;    // printable UTF-8
  std::string issuer;  // likewise
  std::string serial;  // hexadecimal, lower case
  std::vector<ClientRange> clients;
  std::vector<std::string> hosts;
  std::int64_t not_before = 0;  // unix seconds
  std::int64_t not_after = 0;
  bool is_ca = false;
  bool for_server = false;
  bool for_client = false;
  std::string sha256;      // fingerprint of the certificate
  std::string key_sha256;  // fingerprint of its public key, the same after a renewal
};
// What the certificate says of itself; nothing is verified. DataError if it cannot be read, or says
// something that no certificate of a federation may.
[[nodiscard]] CertificateInfo read_certificate(const std::string& pem);

[[nodiscard]] bool key_matches(const std::string& certificate_pem, const std::string& key_pem);

// Whether the CA has signed it, be it expired or for any purpose.
[[nodiscard]] bool is_issued_by(const std::string& certificate_pem, const std::string& ca_pem);

// Why this certificate is not to be trusted now, in a sentence; nothing if it is: signature by the
// CA, dates at `now`, purpose. Revocation is a RevocationList's to say. DataError only if the CA's
// certificate is none.
[[nodiscard]] std::optional<std::string> find_fault(const std::string& certificate_pem,
                                                    const std::string& ca_pem, Purpose purpose,
                                                    std::int64_t now);

// "2026-11-17 05:03 UTC".
[[nodiscard]] std::string format_time(std::int64_t seconds);
}  // namespace fedhur::pki
