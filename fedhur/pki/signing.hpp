// How certificates and revocation lists come to be, in memory. The folder that they are kept in is
// authority.hpp's.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "fedhur/pki/identity.hpp"
#include "fedhur/pki/openssl.hpp"
#include "fedhur/pki/revocation.hpp"

namespace fedhur::pki {
// How a certificate names the clients it may speak for, one URI per range: fedhur:client:0-24.
constexpr std::string_view kClientUri = "fedhur:client:";

struct Lifetime {
  std::int64_t not_before = 0;  // unix seconds
  std::int64_t not_after = 0;
};

struct Signer {
  CertificatePtr certificate;
  KeyPtr key;
};

// EC P-256: small, fast, and known to every TLS 1.3.
[[nodiscard]] KeyPtr make_key();
// "P-256", "P-384" or "RSA 3072". DataError for keys that are weak, or that not every TLS knows.
[[nodiscard]] std::string describe_key(EVP_PKEY& key);

[[nodiscard]] CertificatePtr make_ca_certificate(EVP_PKEY& key, const std::string& name,
                                                 const Lifetime& lifetime);
// For one purpose only, with a random serial number.
[[nodiscard]] CertificatePtr sign_certificate(const Signer& signer, EVP_PKEY& holder,
                                              const Identity& identity, const Lifetime& lifetime);
// `issuer` of the list is the signer, whatever it says.
[[nodiscard]] CrlPtr sign_revocations(const Signer& signer, const RevocationInfo& revocations);
}  // namespace fedhur::pki
