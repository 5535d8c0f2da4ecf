// fedhur watch: the report of a run, live in a browser.
#include <fmt/format.h>
#include <pthread.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <memory>

#include "apps/command.hpp"
#include "apps/common_flags.hpp"
#include "apps/loopback_server.hpp"
#include "apps/output.hpp"
#include "apps/page_data.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/report/page.hpp"

namespace fedhur::apps {
namespace {
using experiment::RunFolder;

struct WatchFlags {
  std::string run;
  std::int64_t port = 8720;
};

// What ends it: Ctrl-C and the like, but for signals that the parent has this process ignore. From
// now on they wait until somebody asks for them, in this thread and in those it starts.
sigset_t hold_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current {};
    if (::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN) continue;
    sigaddset(&signals, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// Whether one of them came within this time.
bool has_come(const sigset_t& signals, std::chrono::milliseconds within) {
  const timespec time{.tv_sec = within.count() / 1000,
                      .tv_nsec = within.count() % 1000 * 1'000'000};
  return ::sigtimedwait(&signals, nullptr, &time) > 0;
}

// A run that still loads its data has a log and no settings yet. False if a signal came first.
bool wait_for_run(const std::filesystem::path& path, const sigset_t& signals) {
  const std::filesystem::path config = path / "config.toml";
  const std::filesystem::path log = path / "log.txt";
  if (!std::filesystem::exists(config) && std::filesystem::exists(log)) {
    say("waiting for the run to begin\n");
    while (!std::filesystem::exists(config) && std::filesystem::exists(log)) {
      if (has_come(signals, std::chrono::milliseconds(100))) return false;
    }
  }
  (void)RunFolder::open(path);  // or an error that says what is missing
  return true;
}

// Read anew whenever it is asked for; nothing in the folder is changed.
RunRecord read_record(const std::string& run) {
  std::vector<std::string> ignored;  // about settings; the page says so itself
  std::vector<RunRecord> records = {read_run(run, ignored)};
  shorten_names(records);
  return std::move(records.front());
}

// What the page has already.
PageState state_of(const HttpQuery& query) {
  const auto count = [&](const char* name) {
    const std::string text = query(name);
    std::size_t value = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  return {.sittings = count("sittings"), .rounds = count("rounds"), .inside = query("inside")};
}

int watch(const WatchFlags& flags) {
  check_given(flags.run, "the run folder", "fedhur watch runs/fedhur-0001");
  if (flags.port < 0 || flags.port > 65535) {
    throw ConfigError(fmt::format("--port {}: expected a number from 0 to 65535", flags.port));
  }
  const sigset_t signals = hold_signals();
  if (!wait_for_run(flags.run, signals)) return ExitCode::done;
  const LoopbackServer server(
      static_cast<int>(flags.port), "--port",
      {{"/",
        [&](const HttpQuery&) {
          return HttpReply{.body = report::make_page(live_data(read_record(flags.run))),
                           .type = "text/html; charset=utf-8"};
        }},
       {"/update", [&](const HttpQuery& query) {
          return HttpReply{.body = update_data(read_record(flags.run), state_of(query)),
                           .type = "application/json"};
        }}});
  print(fmt::format("watching {} at http://127.0.0.1:{}/\n", flags.run, server.port()));
  say("Ctrl-C ends it; the run itself goes on\n");
  int signal = 0;
  while (::sigwait(&signals, &signal) != 0) {
  }
  return ExitCode::done;
}
}  // namespace

Command add_watch(CLI::App& parent) {
  auto flags = std::make_shared<WatchFlags>();
  CLI::App* app = parent.add_subcommand("watch", "The report of a run, live in a browser");
  add_run_argument(*app, flags->run);
  app->add_option("--port", flags->port, "Of 127.0.0.1; 0 takes a free one (8720)")
      ->type_name("N")
      ->check(whole_number_problem);
  app->footer(R"(
Shows the page of 'fedhur report' and adds every round when it is finished. It only reads the run
folder, and answers only to this machine. The run may be finished, or not have begun its first round.

Example, in a second terminal:
  fedhur watch runs/fedhur-0001)");
  return {.app = app, .run = [flags] { return watch(*flags); }};
}
}  // namespace fedhur::apps
