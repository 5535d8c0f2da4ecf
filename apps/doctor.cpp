// fedhur doctor: looks at a server or client before it starts, and says how to mend what is wrong.
#include "apps/command.hpp"
#include "apps/doctor/client.hpp"
#include "apps/doctor/server.hpp"
#include "apps/output.hpp"
#include "fedhur/transport/grpc/grpc_process.hpp"

namespace fedhur::apps {
namespace {
using Json = nlohmann::ordered_json;

template <class Check>
int examine(const CLI::App& app, Check check) {
  const bool is_json = is_flag_set(app, "--json");
  const bool is_quiet = is_flag_set(app, "--quiet");
  require_modern_tls();
  transport::forward_grpc_log([](transport::Severity, const std::string&) {});
  Checkup checkup([&](const Finding& finding) {
    const bool matters = finding.health == Health::warning || finding.health == Health::problem;
    if (!is_json && (matters || !is_quiet)) print(format_text(finding));
  });
  check(checkup);
  if (is_json) {
    print(to_json(checkup).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  } else if (!is_quiet) {
    print(format_summary(checkup));
  }
  return checkup.exit_code();
}

constexpr const char* kExitCodes = R"(
Every check is a line: ok, warning, problem or skipped; below a warning or problem is how to mend
it. Exit code: 0 without problems, 2 for one of settings, certificates or folders, otherwise 3 for
data, otherwise 4 for the network.
)";

// The flags are those of the command itself, so that a command line needs one more word only.
void adapt_flags(CLI::App& app) {
  if (app.get_option_no_throw("--json") == nullptr) {
    app.add_flag("--json")->description("One JSON object on standard output");
  }
  app.get_option("--quiet")->description("Nothing but warnings and problems");
}

// In place of what the command does. It is kept: what its flags are parsed into belongs to it.
template <class Check>
Command replace_run(const Command& command, Check check) {
  return {.app = command.app, .run = [command, check] {
            return examine(*command.app, [&](Checkup& checkup) { check(*command.app, checkup); });
          }};
}

Command adapt_server(const Command& command) {
  adapt_flags(*command.app);
  command.app->description("Check what 'fedhur server' with the same flags would meet");
  command.app->footer(std::string(kExitCodes) + R"(
Nothing is changed and nothing is listened on. A server that runs already is not disturbed; its own
port is taken then.

Examples:
  fedhur doctor server --items items.tsv --clients 100 \
    --ca ca.crt --cert server.crt --key server.key --revoked revoked.crl --out run
  fedhur doctor server --resume run --ca ca.crt --cert server.crt --key server.key)");
  return replace_run(command, [](const CLI::App& app, Checkup& checkup) {
    check_server(read_server_setup(app), checkup);
  });
}

Command adapt_client(const Command& command) {
  adapt_flags(*command.app);
  command.app->description("Check what 'fedhur client' with the same flags would meet");
  command.app->footer(std::string(kExitCodes) + R"(
Nothing is changed. If the server runs, it is asked what it has for this site, as 'fedhur client'
asks it; this does not take part in the run, and a site that is connected stays so.

Examples:
  fedhur doctor client --server fl.example.org:8470 --data ratings.csv --state /var/lib/fedhur \
    --ca ca.crt --cert clinic.crt --key clinic.key
  fedhur doctor client --server localhost:8470 --insecure --clients 0 --data ratings.csv)");
  return replace_run(command, [](const CLI::App& app, Checkup& checkup) {
    check_client(read_client_setup(app), checkup);
  });
}
}  // namespace

std::vector<Command> add_doctor(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("doctor", "Check a server or client before it starts");
  std::vector<Command> commands = {adapt_server(add_server(*app)), adapt_client(add_client(*app))};
  app->footer(R"(
Put 'doctor' into the command line that you are about to use, or that has failed:
  fedhur server --items items.tsv --clients 10 --insecure
  fedhur doctor server --items items.tsv --clients 10 --insecure)");
  return commands;
}
}  // namespace fedhur::apps
