// The words of `fedhur server` and `fedhur client`, as `fedhur doctor` reads them.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "apps/server_flags.hpp"

namespace fedhur::apps {
struct ClientSetup {
  SettingFlags settings;
  IdentityFlags identity;
  std::string server;
  std::string clients;
  std::string state;
  bool has_whole_data = false;
  bool skips_unknown_items = false;
  std::optional<double> give_up_after;
};

// From the parsed flags of the command itself: whatever it takes, its doctor takes.
[[nodiscard]] ServerFlags read_server_setup(const CLI::App& app);
[[nodiscard]] ClientSetup read_client_setup(const CLI::App& app);
[[nodiscard]] bool is_flag_set(const CLI::App& app, const std::string& name);
}  // namespace fedhur::apps
