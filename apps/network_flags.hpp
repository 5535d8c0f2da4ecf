// Flags that server and client share: who they are to each other.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "fedhur/base/ids.hpp"
#include "fedhur/pki/client_ranges.hpp"
#include "fedhur/transport/grpc/tls.hpp"

namespace fedhur::apps {
struct IdentityFlags {
  std::string ca;
  std::string certificate;
  std::string key;
  std::string revoked;  // a server's
  bool is_insecure = false;
};
void add_identity_flags(CLI::App& app, IdentityFlags& flags, bool is_server);
// ConfigError unless there is either a whole identity or --insecure.
[[nodiscard]] transport::Security to_security(const IdentityFlags& flags);
// Of --clients; none without it. ConfigError for a client that no federation has.
[[nodiscard]] std::vector<pki::ClientRange> parse_clients(const std::string& text);
// The clients of the ranges, one by one.
[[nodiscard]] std::vector<ClientId> clients_in(const std::vector<pki::ClientRange>& ranges);
// Before the first connection of the process: no TLS older than 1.3.
void require_modern_tls();
}  // namespace fedhur::apps
