// fedhur doctor: looks at a server or client before it starts, and says how to mend what is wrong.
#include <memory>

#include "apps/command.hpp"
#include "apps/doctor/checks.hpp"
#include "apps/output.hpp"
#include "fedhur/transport/grpc/grpc_process.hpp"

namespace fedhur::apps {
namespace {
template <class Flags>
int examine(const Flags& flags, void (*check)(const Flags&, Checkup&)) {
  const auto [is_json, is_quiet, log_format] = flags.display;
  require_modern_tls();
  transport::forward_grpc_log([](transport::Severity, const std::string&) {});
  Checkup checkup([is_json = is_json, is_quiet = is_quiet](const Finding& finding) {
    const bool matters = finding.health == Health::warning || finding.health == Health::problem;
    if (!is_json && (matters || !is_quiet)) print(format_text(finding));
  });
  check(flags, checkup);
  if (is_json) {
    print_json(to_json(checkup));
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

constexpr const char* kServerFooter = R"(
Nothing is changed and nothing is listened on. A server that runs already is not disturbed; its own
port is taken then.

Examples:
  fedhur doctor server --items items.tsv --clients 100 \
    --ca ca.crt --cert server.crt --key server.key --revoked revoked.crl --out run
  fedhur doctor server --resume run --ca ca.crt --cert server.crt --key server.key)";

constexpr const char* kClientFooter = R"(
Nothing is changed. If the server runs, it is asked what it has for this site, as 'fedhur client'
asks it; this does not take part in the run, and a site that is connected stays so.

Examples:
  fedhur doctor client --server fl.example.org:8470 --data ratings.csv --state /var/lib/fedhur \
    --ca ca.crt --cert clinic.crt --key clinic.key
  fedhur doctor client --server localhost:8470 --insecure --clients 0 --data ratings.csv)";

// The flags are those of the command itself, so that a command line needs one more word only.
template <class Flags>
Command add_checks(CLI::App& parent, CLI::App* (*add_flags)(CLI::App&, Flags&),
                   void (*check)(const Flags&, Checkup&), const char* footer) {
  auto flags = std::make_shared<Flags>();
  CLI::App* app = add_flags(parent, *flags);
  if (app->get_option_no_throw("--json") == nullptr) {
    app->add_flag("--json", flags->display.is_json, "One JSON object on standard output");
  }
  app->get_option("--quiet")->description("Nothing but warnings and problems");
  app->description("Check what 'fedhur " + app->get_name() + "' with the same flags would meet");
  app->footer(std::string(kExitCodes) + footer);
  return {.app = app, .run = [flags, check] { return examine(*flags, check); }};
}
}  // namespace

std::vector<Command> add_doctor(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("doctor", "Check a server or client before it starts");
  std::vector<Command> commands = {add_checks(*app, add_server_flags, check_server, kServerFooter),
                                   add_checks(*app, add_client_flags, check_client, kClientFooter)};
  app->footer(R"(
Put 'doctor' into the command line that you are about to use, or that has failed:
  fedhur server --items items.tsv --clients 10 --insecure
  fedhur doctor server --items items.tsv --clients 10 --insecure)");
  return commands;
}
}  // namespace fedhur::apps
