// A small CA for tests, and what only tests do with certificates.
#pragma once
#include <string>

#include "fedhur/pki/authority.hpp"
#include "fedhur/pki/pem_kind.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::pki {
constexpr std::int64_t kNow = 1'800'000'000;  // 2027-01-15 08:00 UTC
constexpr std::int64_t kDay = 86400;

struct TestAuthority {
  explicit TestAuthority(const std::string& name = "test CA") {
    (void)create_authority(path, name, kCaDays, kNow);
    certificate = read_pem_file(path / kCaCertificate);
  }
  [[nodiscard]] IssuedKeyPair issue_client(const std::string& ids,
                                           const std::string& name = "site") const {
    return issue_certificate(path,
                             {.name = name,
                              .purpose = Purpose::client,
                              .clients = parse_client_ranges(ids),
                              .hosts = {}},
                             kCertificateDays, kNow);
  }
  [[nodiscard]] IssuedKeyPair issue_server(const std::string& hosts) const {
    return issue_certificate(
        path,
        {.name = "server", .purpose = Purpose::server, .clients = {}, .hosts = parse_hosts(hosts)},
        kCertificateDays, kNow);
  }
  [[nodiscard]] RevocationList revocations() const {
    return RevocationList::read(read_pem_file(path / kRevocations), certificate);
  }

  tests::TempFolder folder;
  std::filesystem::path path = folder / "ca";
  std::string certificate;
};

// The PEM text with one bit of its bytes flipped. Steps of 7 bits touch every byte.
[[nodiscard]] std::string flip_bit(const std::string& pem, std::size_t bit);
[[nodiscard]] std::size_t count_bits(const std::string& pem);
}  // namespace fedhur::pki
