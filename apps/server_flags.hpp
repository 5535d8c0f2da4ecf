// The words of `fedhur server`, and the settings that they make; `fedhur doctor` reads them too.
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
  bool is_json = false;
  bool is_quiet = false;
  LogFormat log_format = LogFormat::text;
};

[[nodiscard]] std::string listening_address(const ServerFlags& flags);
// ConfigError if something is missing.
[[nodiscard]] ConfigTable settings_of_new_run(const ServerFlags& flags);
// Of the run that --resume names. ConfigError for flags that it has settled.
[[nodiscard]] ConfigTable settings_of_old_run(const ServerFlags& flags);
}  // namespace fedhur::apps
