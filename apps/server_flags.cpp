#include "apps/server_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedhur/base/error.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/run_folder.hpp"

namespace fedhur::apps {
namespace {
// What may differ from one sitting of a run to the next.
void set_patience(const ServerFlags& flags, ConfigTable& table) {
  if (flags.quorum) table.set("federation.quorum", *flags.quorum, "--quorum");
  if (flags.deadline) table.set("federation.deadline_seconds", *flags.deadline, "--deadline");
}
}  // namespace

std::string listening_address(const ServerFlags& flags) {
  if (!flags.listen.empty()) return flags.listen;
  return flags.identity.is_insecure ? "127.0.0.1:8470" : "0.0.0.0:8470";
}

ConfigTable settings_of_new_run(const ServerFlags& flags) {
  ConfigTable table = flags.settings.to_table();
  if (!flags.items.empty()) table.set("federation.items", flags.items, "--items");
  if (flags.clients) table.set("federation.clients", *flags.clients, "--clients");
  set_patience(flags, table);
  if (!table.contains("federation.items")) {
    throw ConfigError("--items is missing: a file that 'fedhur data items' writes");
  }
  if (!table.contains("federation.clients")) {
    throw ConfigError("--clients is missing: how many clients the federation has");
  }
  return table;
}

ConfigTable settings_of_old_run(const ServerFlags& flags) {
  std::vector<std::string> settled = flags.settings.settled_by_a_run();
  if (!flags.out.empty()) settled.emplace_back("--out");
  if (!flags.items.empty()) settled.emplace_back("--items");
  if (flags.clients) settled.emplace_back("--clients");
  if (!settled.empty()) {
    throw ConfigError(
        fmt::format("--resume goes on with the run as it was configured; leave out {}",
                    fmt::join(settled, ", ")));
  }
  ConfigTable table;
  experiment::add_toml_file(table, experiment::RunFolder::open(flags.resume).config());
  set_patience(flags, table);
  if (flags.settings.threads) table.set("threads", *flags.settings.threads, "--threads");
  return table;
}
}  // namespace fedhur::apps
