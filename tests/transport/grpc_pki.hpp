// Certificates for servers and sites of a test.
#pragma once
#include <fmt/format.h>

#include <string>

#include "fedhur/base/file.hpp"
#include "fedhur/pki/authority.hpp"
#include "fedhur/transport/grpc/tls.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::transport {
class TestAuthority {
 public:
  TestAuthority() {
    (void)pki::create_authority(folder(), "test", pki::kCaDays, current_time() - 30 * kDay);
  }
  [[nodiscard]] std::filesystem::path folder() const { return files_ / "ca"; }
  // With the revocation list that revoke() writes.
  [[nodiscard]] TlsFiles server(const std::string& hosts = "localhost,127.0.0.1") const {
    TlsFiles files = issue({.name = "server",
                            .purpose = pki::Purpose::server,
                            .clients = {},
                            .hosts = pki::parse_hosts(hosts)});
    files.revoked = folder() / pki::kRevocations;
    return files;
  }
  [[nodiscard]] TlsFiles site(const std::string& name, const std::string& clients) const {
    return issue(site_identity(name, clients));
  }
  [[nodiscard]] TlsFiles expired_site(const std::string& name, const std::string& clients) const {
    return issue(site_identity(name, clients), current_time() - 10 * kDay);
  }
  void revoke(const TlsFiles& files) const {
    (void)pki::revoke_certificate(folder(), read_text_file(files.certificate), current_time());
  }

 private:
  static constexpr std::int64_t kDay = 24 * 3600;

  static pki::Identity site_identity(const std::string& name, const std::string& clients) {
    return {.name = name,
            .purpose = pki::Purpose::client,
            .clients = pki::parse_client_ranges(clients),
            .hosts = {}};
  }
  // For a week.
  [[nodiscard]] TlsFiles issue(const pki::Identity& identity,
                               std::int64_t now = current_time()) const {
    const auto pair = pki::issue_certificate(folder(), identity, 7, now);
    const std::string stem = fmt::format("{}-{}", identity.name, ++num_issued_);
    const TlsFiles files{.ca = folder() / pki::kCaCertificate,
                         .certificate = files_ / (stem + ".crt"),
                         .key = files_ / (stem + ".key")};
    write_file_atomically(files.certificate, pair.certificate);
    write_file_atomically(files.key, pair.key);
    return files;
  }

  tests::TempFolder files_;
  mutable int num_issued_ = 0;
};
}  // namespace fedhur::transport
