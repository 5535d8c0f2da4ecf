// fedhur client: hosts clients next to their data, for a server elsewhere.
#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <optional>

#include "apps/client_flags.hpp"
#include "apps/command.hpp"
#include "apps/interrupt.hpp"
#include "apps/output.hpp"
#include "apps/run_log.hpp"
#include "apps/time_slices.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/base/memory.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/transport/grpc/grpc_process.hpp"

namespace fedhur::apps {
namespace {
namespace fs = std::filesystem;
using experiment::SiteRun;
using transport::Severity;

int leave(const SiteRun& site, const ClientFlags& flags, RunLog& log, bool is_finished) {
  const bool has_model = site.write_model();
  const std::string folder = shell_quoted(flags.state);
  const auto missing = site.clients_without_model();
  if (has_model && !missing.empty()) {
    log.warn(
        fmt::format("no model of {}: away whenever the best one was to be kept; their users get no "
                    "recommendations",
                    experiment::describe_clients(missing)));
  }
  if (has_model) {
    log.info(fmt::format("recommendations: fedhur recommend {} --user ID", folder));
  } else {
    log.info("no round has ended yet, so there is no model");
  }
  if (!is_finished) say_line(flags.display.log_format, "fedhur: stopped; the same command goes on");
  return is_finished ? ExitCode::done : ExitCode::interrupted;
}

int work(const ClientFlags& flags, RunLog& log, const transport::NetworkLog& tell) {
  transport::forward_grpc_log(tell);
  std::unique_ptr<SiteRun> site;
  std::string run_id;
  for (;;) {
    transport::HubConnection carrier(connection_config(flags, SiteRun::known_items(flags.state)),
                                     tell);
    const auto welcome = carrier.connect(was_interrupted);
    if (!welcome) {
      if (site) return leave(*site, flags, log, false);
      if (was_interrupted()) return ExitCode::interrupted;
      throw TransportError(fmt::format("the run of {} is over", flags.server));
    }
    if (!site) {
      site = std::make_unique<SiteRun>(site_config(flags), *welcome);
      run_id = welcome->run_id;
      log.info(site->describe());
      if (site->skipped_rows() > 0) {
        log.warn(fmt::format("{} rows were skipped", site->skipped_rows()));
      }
      if (site->num_replayed() > 0) {
        log.info(
            fmt::format("{} tasks since the last save were worked on again", site->num_replayed()));
      }
    } else if (welcome->run_id != run_id) {
      throw TransportError(fmt::format("{} has begun another run, {}; this site takes part in {}",
                                       flags.server, welcome->run_id, run_id));
    }
    const auto farewell = carrier.serve(site->site(), was_interrupted);
    if (!farewell) return leave(*site, flags, log, false);
    if (farewell->is_finished) return leave(*site, flags, log, true);
    tell(Severity::warning, fmt::format("{}; waiting for the server to go on", farewell->reason));
  }
}

int run_client(const ClientFlags& flags) {
  check_given(flags.server, "--server HOST:PORT", "fedhur client --server fl.example.org:8470 ...");
  check_given(flags.settings.data, "--data", "fedhur client --data ratings.csv ...");
  // A mistake should not have to wait for the server.
  if (flags.settings.data != experiment::kSynthetic && !fs::exists(flags.settings.data)) {
    throw DataError(fmt::format("--data {}: there is no such file", flags.settings.data));
  }
  const transport::Security security = to_security(flags.identity);
  transport::check_security(flags.server, security);
  (void)connection_config(flags, std::nullopt);
  require_modern_tls();
  make_private_folder(flags.state);
  use_long_time_slices();
  keep_freed_memory();
  share_freed_memory(experiment::num_threads(flags.settings.threads.value_or(0)));
  flags.display.log_format == LogFormat::json ? note_interrupts_silently() : note_interrupts();
  RunLog log(fs::path(flags.state) / "log.txt", flags.display.is_quiet, flags.display.log_format);
  std::mutex mutex;
  const transport::NetworkLog tell = [&](Severity severity, const std::string& message) {
    const std::lock_guard lock(mutex);
    if (severity == Severity::detail) return log.note(message);
    severity == Severity::warning ? log.warn(message) : log.info(message);
  };
  try {
    return work(flags, log, tell);
  } catch (const std::exception& error) {
    log.error(error.what());
    throw;
  }
}
}  // namespace

Command add_client(CLI::App& parent) {
  auto flags = std::make_shared<ClientFlags>();
  CLI::App* app = add_client_flags(parent, *flags);
  app->footer(R"(
The same command goes on after any interruption, with what is in --state. When the run is over the
model is there as well: 'fedhur recommend DIR --user ID'.

Examples:
  fedhur client --server localhost:8470 --insecure --clients 0 --data ratings.csv
  fedhur client --server fl.example.org:8470 --data ratings.csv --state /var/lib/fedhur \
    --ca ca.crt --cert clinic.crt --key clinic.key)");
  return {.app = app, .run = [flags] {
            return tell_failures(flags->display.log_format, [&] { return run_client(*flags); });
          }};
}
}  // namespace fedhur::apps
