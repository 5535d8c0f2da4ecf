#include "apps/network_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "fedhur/base/error.hpp"
#include "fedhur/experiment/federation_config.hpp"

namespace fedhur::apps {
void add_identity_flags(CLI::App& app, IdentityFlags& flags, bool is_server) {
  app.add_option("--ca", flags.ca, "Certificate of the federation's authority")->type_name("FILE");
  app.add_option("--cert", flags.certificate, "Certificate of this end")->type_name("FILE");
  app.add_option("--key", flags.key, "Its private key")->type_name("FILE");
  if (is_server) {
    app.add_option("--revoked", flags.revoked, "The authority's list of revoked certificates")
        ->type_name("FILE");
  }
  app.add_flag("--insecure", flags.is_insecure,
               "Neither encryption nor certificates; on this machine only");
}

transport::Security to_security(const IdentityFlags& flags) {
  const bool has_any = !flags.ca.empty() || !flags.certificate.empty() || !flags.key.empty() ||
                       !flags.revoked.empty();
  if (flags.is_insecure) {
    if (has_any) throw ConfigError("--insecure uses no certificates: leave one or the other out");
    return std::nullopt;
  }
  for (const auto& [value, name] :
       {std::pair{&flags.ca, "--ca"}, {&flags.certificate, "--cert"}, {&flags.key, "--key"}}) {
    if (!value->empty()) continue;
    throw ConfigError(std::string(name) +
                      " is missing: 'fedhur pki' makes certificates, and --insecure does without "
                      "on one machine");
  }
  transport::TlsFiles files{.ca = flags.ca, .certificate = flags.certificate, .key = flags.key};
  if (!flags.revoked.empty()) files.revoked = flags.revoked;
  return files;
}

std::vector<pki::ClientRange> parse_clients(const std::string& text) {
  if (text.empty()) return {};
  std::vector<pki::ClientRange> ranges = pki::parse_client_ranges(text);
  for (const pki::ClientRange& range : ranges) {
    if (range.last < experiment::kMostClients) continue;
    throw ConfigError(fmt::format("--clients {}: no federation has a client {}", text, range.last));
  }
  return ranges;
}

std::vector<ClientId> clients_in(const std::vector<pki::ClientRange>& ranges) {
  std::vector<ClientId> clients;
  for (const pki::ClientRange& range : ranges) {
    // A certificate may name more than any federation has.
    const Index last = std::min(range.last, experiment::kMostClients - 1);
    for (Index client = range.first; client <= last; ++client) {
      clients.push_back(client_id(client));
    }
  }
  return clients;
}

void require_modern_tls() {
  (void)::setenv(transport::kTls13Only.first, transport::kTls13Only.second, 1);
}
}  // namespace fedhur::apps
