// The flags of `fedhur server`, and of `fedhur doctor server`.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "apps/common_flags.hpp"
#include "apps/log_format.hpp"
#include "apps/network_flags.hpp"

namespace fedhur::apps {
struct ServerFlags {
  SettingFlags settings;
  IdentityFlags identity;
  std::string items;
  std::optional<std::int64_t> clients;
  std::optional<std::int64_t> quorum;
  std::optional<double> deadline;
  std::string listen;
  std::optional<std::int64_t> monitor;
  std::string out;
  std::string resume;
  DisplayFlags display;
};

// The subcommand `server` with these flags, which outlive the parsing.
[[nodiscard]] CLI::App* add_server_flags(CLI::App& parent, ServerFlags& flags);
// ConfigError unless --monitor is a port.
void check_monitor_port(const ServerFlags& flags);
[[nodiscard]] std::string listening_address(const ServerFlags& flags);
// ConfigError if something is missing.
[[nodiscard]] ConfigTable settings_of_new_run(const ServerFlags& flags);
// Of the run that --resume names. ConfigError for flags that it has settled.
[[nodiscard]] ConfigTable settings_of_old_run(const ServerFlags& flags);
}  // namespace fedhur::apps
