#include "apps/doctor/flags.hpp"

namespace fedhur::apps {
namespace {
// The value of a flag as it was given; `value` stays what it is without.
template <class T>
void take_flag(const CLI::App& app, const std::string& name, T& value) {
  const CLI::Option* const option = app.get_option_no_throw(name);
  if (option != nullptr && option->count() > 0) option->results(value);
}

SettingFlags take_settings(const CLI::App& app) {
  SettingFlags flags;
  take_flag(app, "--config", flags.config);
  take_flag(app, "--set", flags.assignments);
  take_flag(app, "--data", flags.data);
  take_flag(app, "--format", flags.format);
  take_flag(app, "--split-file", flags.split_file);
  take_flag(app, "--method", flags.method);
  take_flag(app, "--seed", flags.seed);
  take_flag(app, "--threads", flags.threads);
  take_flag(app, "--skip-bad-rows", flags.skip_bad_rows);
  return flags;
}

IdentityFlags take_identity(const CLI::App& app) {
  IdentityFlags flags;
  take_flag(app, "--ca", flags.ca);
  take_flag(app, "--cert", flags.certificate);
  take_flag(app, "--key", flags.key);
  take_flag(app, "--revoked", flags.revoked);
  take_flag(app, "--insecure", flags.is_insecure);
  return flags;
}
}  // namespace

bool is_flag_set(const CLI::App& app, const std::string& name) {
  bool is_set = false;
  take_flag(app, name, is_set);
  return is_set;
}

ServerFlags read_server_setup(const CLI::App& app) {
  ServerFlags setup;
  setup.settings = take_settings(app);
  setup.identity = take_identity(app);
  take_flag(app, "--items", setup.items);
  take_flag(app, "--clients", setup.clients);
  take_flag(app, "--quorum", setup.quorum);
  take_flag(app, "--deadline", setup.deadline);
  take_flag(app, "--listen", setup.listen);
  take_flag(app, "--monitor", setup.monitor);
  take_flag(app, "--out", setup.out);
  take_flag(app, "--resume", setup.resume);
  return setup;
}

ClientSetup read_client_setup(const CLI::App& app) {
  ClientSetup setup;
  setup.settings = take_settings(app);
  setup.identity = take_identity(app);
  take_flag(app, "--server", setup.server);
  take_flag(app, "--clients", setup.clients);
  setup.state = kDefaultState;
  take_flag(app, "--state", setup.state);
  take_flag(app, "--whole", setup.has_whole_data);
  take_flag(app, "--skip-unknown-items", setup.skips_unknown_items);
  take_flag(app, "--give-up-after", setup.give_up_after);
  return setup;
}
}  // namespace fedhur::apps
