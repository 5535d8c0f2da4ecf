#include "apps/client_flags.hpp"

#include <fmt/format.h>

#include "fedhur/base/hash.hpp"
#include "fedhur/experiment/manifest.hpp"

namespace fedhur::apps {
CLI::App* add_client_flags(CLI::App& parent, ClientFlags& flags) {
  CLI::App* app = parent.add_subcommand("client", "Take part in a federation, next to the data");
  app->add_option("--server", flags.server, "Where the server listens")->type_name("HOST:PORT");
  app->add_option("--clients", flags.clients,
                  "Whom to host: 7, 0-24 or 3,5,8-9 (default: all that the certificate names)")
      ->type_name("IDS");
  app->add_option("--data", flags.settings.data, "This site's interactions")->type_name("PATH");
  app->add_option("--state", flags.state, "Folder of this site's own: states, model (site)")
      ->type_name("DIR");
  add_identity_flags(*app, flags.identity, false);
  add_setting_flags(*app, flags.settings);
  app->add_flag("--whole", flags.has_whole_data,
                "--data are those of all clients; take the share of these, as 'fedhur train' "
                "divides them");
  app->add_flag("--skip-unknown-items", flags.skips_unknown_items,
                "Leave out rows with items that the federation does not have");
  add_threads_flag(*app, flags.settings);
  app->add_option("--give-up-after", flags.give_up_after,
                  "Seconds without a connection (default: never)")
      ->type_name("S")
      ->check(number_problem);
  add_display_flags(*app, flags.display, "Say nothing", false);
  return app;
}

void check_patience(const ClientFlags& flags) {
  if (!flags.give_up_after || (*flags.give_up_after > 0 && *flags.give_up_after < 1e9)) return;
  throw ConfigError("--give-up-after: expected a number of seconds above 0");
}

transport::HubConnectionConfig connection_config(const ClientFlags& flags,
                                                 const std::optional<std::string>& catalogue) {
  check_patience(flags);
  transport::HubConnectionConfig config;
  config.server = flags.server;
  config.security = to_security(flags.identity);
  config.clients = clients_in(parse_clients(flags.clients));
  config.software = "fedhur " + experiment::version();
  if (catalogue) config.catalogue_sha256 = sha256_hex(std::as_bytes(std::span(*catalogue)));
  if (flags.give_up_after) {
    config.give_up_after =
        std::chrono::milliseconds(static_cast<std::int64_t>(*flags.give_up_after * 1000.0));
  }
  if (!config.security && config.clients.empty()) {
    throw ConfigError(
        "--clients is missing: without a certificate nothing says whom this site "
        "hosts");
  }
  return config;
}

experiment::SiteConfig site_config(const ClientFlags& flags) {
  return {.folder = flags.state,
          .own = flags.settings.to_table(),
          .has_whole_data = flags.has_whole_data,
          .skips_unknown_items = flags.skips_unknown_items};
}
}  // namespace fedhur::apps
