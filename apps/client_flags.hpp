// The flags of `fedhur client`, and of `fedhur doctor client`.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "apps/common_flags.hpp"
#include "apps/log_format.hpp"
#include "apps/network_flags.hpp"
#include "fedhur/experiment/site_run.hpp"
#include "fedhur/transport/grpc/hub_connection.hpp"

namespace fedhur::apps {
struct ClientFlags {
  SettingFlags settings;
  IdentityFlags identity;
  std::string server;
  std::string clients;
  std::string state = "site";
  std::optional<double> give_up_after;
  bool has_whole_data = false;
  bool skips_unknown_items = false;
  DisplayFlags display;
};

// The subcommand `client` with these flags, which outlive the parsing.
[[nodiscard]] CLI::App* add_client_flags(CLI::App& parent, ClientFlags& flags);
// ConfigError unless --give-up-after is a time.
void check_patience(const ClientFlags& flags);
// `catalogue` is what the site has of an earlier connection. ConfigError if flags do not go
// together.
[[nodiscard]] transport::HubConnectionConfig connection_config(
    const ClientFlags& flags, const std::optional<std::string>& catalogue);
[[nodiscard]] experiment::SiteConfig site_config(const ClientFlags& flags);
}  // namespace fedhur::apps
