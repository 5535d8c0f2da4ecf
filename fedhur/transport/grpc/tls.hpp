// How the two ends of a connection know each other.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "fedhur/pki/identity.hpp"

namespace fedhur::transport {
struct TlsFiles {
  std::filesystem::path ca;           // certificate of the authority that signs all others
  std::filesystem::path certificate;  // of this end
  std::filesystem::path key;
  std::optional<std::filesystem::path> revoked = {};  // for servers: the authority's list
};
// None: plaintext, which is for one machine alone.
using Security = std::optional<TlsFiles>;

// gRPC has no setting for the oldest version of TLS. But it takes the cipher suites of TLS 1.2 and
// older from the environment, and a pre-shared key suite cannot be used here: what is left is TLS
// 1.3, whose suites are not in that list. The program sets this variable before the
// first server or site is made; the library does not touch the environment.
inline constexpr std::pair<const char*, const char*> kTls13Only = {"GRPC_SSL_CIPHER_SUITES",
                                                                   "ECDHE-PSK-AES256-CBC-SHA384"};

struct Address {
  std::string host;  // a name, or an IP address without brackets
  int port = 0;
};
// "host:port" or "[::1]:port". ConfigError for anything else.
[[nodiscard]] Address parse_address(const std::string& text);
// 127.0.0.0/8, ::1 or localhost.
[[nodiscard]] bool is_loopback(const std::string& host);
// ConfigError if `address` is none, or can be reached from elsewhere and there is no TLS.
void check_security(const std::string& address, const Security& security);

struct TlsTexts {  // PEM
  std::string ca;
  std::string certificate;
  std::string key;
};
// ConfigError if the files do not belong together, or the certificate is not good for `purpose`
// now.
[[nodiscard]] TlsTexts read_tls_files(const TlsFiles& files, pki::Purpose purpose);
// Unix seconds.
[[nodiscard]] std::int64_t current_time();
}  // namespace fedhur::transport
