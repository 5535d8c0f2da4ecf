// fedhur server: trains with clients that are elsewhere.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <thread>

#include "apps/command.hpp"
#include "apps/interrupt.hpp"
#include "apps/loopback_server.hpp"
#include "apps/output.hpp"
#include "apps/server_flags.hpp"
#include "apps/server_metrics.hpp"
#include "apps/time_slices.hpp"
#include "apps/training_display.hpp"
#include "fedhur/base/memory.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/experiment/server_run.hpp"
#include "fedhur/report/result_text.hpp"
#include "fedhur/transport/grpc/grpc_process.hpp"
#include "fedhur/transport/grpc/grpc_server.hpp"

namespace fedhur::apps {
namespace {
using experiment::RunFolder;
using experiment::ServerRun;
using experiment::TrainingOutcome;
using transport::Severity;

transport::GrpcServerConfig carrier_config(const ServerRun& server, const ServerFlags& flags,
                                           const transport::Security& security) {
  return {.listen = listening_address(flags),
          .security = security,
          .welcome = server.welcome(),
          .largest_reply = server.largest_reply()};
}

// For monitors on this machine: what goes on, whether the server lives, whether it has a quorum.
HttpRoutes monitor_routes(ServerRun& server) {
  const Index clients = server.config().federation->clients;
  const Index wanted = server.config().federation->quorum;
  const Index quorum = wanted > 0 ? wanted : clients;
  return {{"/metrics",
           [&server, clients, quorum](const HttpQuery&) {
             return HttpReply{.body = to_prometheus(server.hub().status(), clients, quorum),
                              .type = "text/plain; version=0.0.4; charset=utf-8"};
           }},
          {"/healthz", [](const HttpQuery&) { return HttpReply{.body = "ok\n"}; }},
          {"/readyz", [&server, quorum](const HttpQuery&) {
             const auto connected = static_cast<Index>(server.hub().status().connected.size());
             return HttpReply{
                 .body = fmt::format("{} clients connected, {} needed\n", connected, quorum),
                 .status = connected >= quorum ? 200 : 503};
           }}};
}

// A stop does not wait for the end of the round: whatever was answered is on disk.
class StopWatcher {
 public:
  explicit StopWatcher(transport::Hub& hub)
      : thread_([&hub](const std::stop_token& stop) {
          while (!stop.stop_requested() && !was_interrupted()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
          }
          if (was_interrupted()) hub.close("the server is being stopped");
        }) {}

 private:
  std::jthread thread_;
};

TrainingOutcome serve(const experiment::ResolvedConfig& resolved, const RunFolder& folder,
                      const ServerFlags& flags, const experiment::TrainingHooks& hooks,
                      const transport::NetworkLog& tell) {
  const transport::Security security = to_security(flags.identity);
  transport::check_security(listening_address(flags), security);
  require_modern_tls();
  transport::forward_grpc_log(tell);
  ServerRun server(resolved, folder, tell, hooks);
  transport::GrpcServer carrier(carrier_config(server, flags, security), server.hub(), tell);
  tell(Severity::info, fmt::format("listening on port {}{}", carrier.port(),
                                   security ? "" : ", without encryption"));
  std::optional<LoopbackServer> monitor;
  if (flags.monitor) {
    monitor.emplace(static_cast<int>(*flags.monitor), "--monitor", monitor_routes(server));
    tell(Severity::info, fmt::format("metrics at http://127.0.0.1:{}/metrics", monitor->port()));
  }
  const StopWatcher watcher(server.hub());
  try {
    TrainingOutcome outcome = server.run(hooks);
    carrier.close({.is_finished = !outcome.was_interrupted,
                   .reason = outcome.was_interrupted ? "the server is being stopped" : ""});
    return outcome;
  } catch (const TransportError& error) {
    carrier.close({.is_finished = false, .reason = error.what()});
    if (was_interrupted()) return {.was_interrupted = true, .result = {}};
    throw;
  }
}

int finish(const TrainingOutcome& outcome, const RunFolder& folder, const ServerFlags& flags) {
  if (outcome.was_interrupted) {
    say_line(flags.display.log_format,
             fmt::format("fedhur: stopped; to go on: fedhur server --resume {} with the same "
                         "certificates",
                         shell_quoted(folder.path())));
    return ExitCode::interrupted;
  }
  print(flags.display.is_json ? report::to_json(outcome.result) + "\n"
                              : report::format_result(outcome.result));
  return ExitCode::done;
}

int run_server(const ServerFlags& flags) {
  check_monitor_port(flags);
  const auto start = [&](const RunFolder& folder, const experiment::ResolvedConfig& resolved) {
    use_long_time_slices();
    share_freed_memory(experiment::num_threads(flags.settings.threads.value_or(0)));
    const TrainingOutcome outcome =
        show_training(folder, flags.display, [&](const auto& hooks, const auto& tell) {
          return serve(resolved, folder, flags, hooks, tell);
        });
    return finish(outcome, folder, flags);
  };
  if (!flags.resume.empty()) {
    const auto resolved = experiment::resolve(settings_of_old_run(flags));
    const RunFolder folder = RunFolder::open(flags.resume);
    if (folder.is_finished()) {
      throw ConfigError(fmt::format("{} is finished already", folder.path().string()));
    }
    return start(folder, resolved);
  }
  // Mistakes come to light before there is a folder.
  const auto resolved =
      experiment::resolve(experiment::with_absolute_paths(settings_of_new_run(flags)));
  const RunFolder folder = flags.out.empty()
                               ? RunFolder::create_numbered("runs", resolved.config.method)
                               : RunFolder::create(flags.out);
  const FreshFolder fresh(folder);
  return start(folder, resolved);
}
}  // namespace

Command add_server(CLI::App& parent) {
  auto flags = std::make_shared<ServerFlags>();
  CLI::App* app = add_server_flags(parent, *flags);
  app->footer(R"(
Settings are those of 'fedhur train' but for data and clients, which are the sites' own.
Sites that ask are told the settings and the items.

Examples:
  fedhur data items ratings.csv --out items.tsv
  fedhur server --items items.tsv --clients 3 --insecure
  fedhur server --items items.tsv --clients 100 --quorum 90 --deadline 120 \
    --ca ca.crt --cert server.crt --key server.key --revoked revoked.crl)");
  return {.app = app, .run = [flags] {
            return tell_failures(flags->display.log_format, [&] { return run_server(*flags); });
          }};
}
}  // namespace fedhur::apps
