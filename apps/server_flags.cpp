#include "apps/server_flags.hpp"

#include <fmt/format.h>

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

CLI::App* add_server_flags(CLI::App& parent, ServerFlags& flags) {
  CLI::App* app = parent.add_subcommand("server", "Train with clients that are elsewhere");
  app->add_option("--items", flags.items, "The federation's items ('fedhur data items' writes it)")
      ->type_name("FILE");
  app->add_option("--clients", flags.clients, "How many clients there are")
      ->type_name("N")
      ->check(whole_number_problem);
  app->add_option("--quorum", flags.quorum, "Fewest answers to go on with (default: all)")
      ->type_name("K")
      ->check(whole_number_problem);
  app->add_option("--deadline", flags.deadline, "Seconds to wait for answers (600)")
      ->type_name("S")
      ->check(number_problem);
  app->add_option("--listen", flags.listen, "Where to (0.0.0.0:8470; port 0 takes a free one)")
      ->type_name("HOST:PORT");
  app->add_option("--monitor", flags.monitor,
                  "Port of 127.0.0.1 for /metrics, /healthz and /readyz; 0 takes a free one")
      ->type_name("PORT")
      ->check(whole_number_problem);
  add_identity_flags(*app, flags.identity, true);
  app->add_option("--method", flags.settings.method, "As for 'fedhur train' (fedhur)")
      ->type_name("NAME");
  add_config_flags(*app, flags.settings);
  add_ready_made_flags(*app, flags.settings);
  add_threads_flag(*app, flags.settings);
  app->add_option("--out", flags.out, "Run folder (default: runs/<method>-<number>)")
      ->type_name("DIR");
  app->add_option("--resume", flags.resume, "Go on with an interrupted run")->type_name("RUN");
  add_display_flags(*app, flags.display, "Nothing but the result", true);
  return app;
}

void check_monitor_port(const ServerFlags& flags) {
  if (!flags.monitor || (*flags.monitor >= 0 && *flags.monitor <= 65535)) return;
  throw ConfigError(fmt::format("--monitor {}: expected a number from 0 to 65535", *flags.monitor));
}

std::string listening_address(const ServerFlags& flags) {
  if (!flags.listen.empty()) return flags.listen;
  return flags.identity.is_insecure ? "127.0.0.1:8470" : "0.0.0.0:8470";
}

ConfigTable settings_of_new_run(const ServerFlags& flags) {
  if (flags.settings.tuned == kByData) {
    throw ConfigError("--tuned: a server has no data; name the data set, as in --tuned ml-100k");
  }
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
  reject_settled(settled);
  ConfigTable table;
  experiment::add_toml_file(table, experiment::RunFolder::open(flags.resume).config());
  set_patience(flags, table);
  if (flags.settings.threads) table.set("threads", *flags.settings.threads, "--threads");
  return table;
}
}  // namespace fedhur::apps
