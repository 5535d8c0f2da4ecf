// fedhur watch: the report of a run, live in a browser.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>

#include "apps/command.hpp"
#include "apps/common_flags.hpp"
#include "apps/interrupt.hpp"
#include "apps/loopback_server.hpp"
#include "apps/output.hpp"
#include "fedhur/base/strings.hpp"
#include "fedhur/experiment/read_run.hpp"
#include "fedhur/experiment/run_folder.hpp"
#include "fedhur/report/page.hpp"

namespace fedhur::apps {
namespace {
using experiment::RunFolder;

struct WatchFlags {
  std::string run;
  std::int64_t port = 8720;
};

// Sleeps and polls: waiting for signals would miss those that the kernel hands to a thread of a
// library. False after a signal.
bool sleep_uninterrupted() {
  if (!was_interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return !was_interrupted();
}

// A run that still loads its data has a log and no settings yet. False if a signal came first.
bool wait_for_run(const std::filesystem::path& path) {
  const std::filesystem::path config = path / "config.toml";
  const std::filesystem::path log = path / "log.txt";
  if (!std::filesystem::exists(config) && std::filesystem::exists(log)) {
    say("waiting for the run to begin\n");
    while (!std::filesystem::exists(config) && std::filesystem::exists(log)) {
      if (!sleep_uninterrupted()) return false;
    }
  }
  (void)RunFolder::open(path);  // or an error that says what is missing
  return true;
}

// Read anew whenever it is asked for; nothing in the folder is changed.
report::ReportModel read_live(const std::string& run) {
  std::vector<std::string> ignored;  // about settings; the page says so itself
  return report::make_report({experiment::read_run(run, ignored)}, true);
}

// What the page has already.
report::PageState state_of(const HttpQuery& query) {
  const auto count = [&](const char* name) {
    return parse_number<std::size_t>(query(name)).value_or(0);
  };
  return {.sittings = count("sittings"), .rounds = count("rounds"), .inside = query("inside")};
}

int watch(const WatchFlags& flags) {
  check_given(flags.run, "the run folder", "fedhur watch runs/fedhur-0001");
  check_range("--port", flags.port, 0, 65535);
  note_interrupts_silently();
  if (!wait_for_run(flags.run)) return ExitCode::done;
  const LoopbackServer server(
      static_cast<int>(flags.port), "--port",
      {{"/",
        [&](const HttpQuery&) {
          return HttpReply{.body = report::make_page(report::page_data(read_live(flags.run))),
                           .type = "text/html; charset=utf-8"};
        }},
       {"/update", [&](const HttpQuery& query) {
          return HttpReply{.body = report::update_data(read_live(flags.run), state_of(query)),
                           .type = "application/json"};
        }}});
  print(fmt::format("watching {} at http://127.0.0.1:{}/\n", flags.run, server.port()));
  say("Ctrl-C ends it; the run itself goes on\n");
  while (sleep_uninterrupted()) {
  }
  return ExitCode::done;
}
}  // namespace

Command add_watch(CLI::App& parent) {
  auto flags = std::make_shared<WatchFlags>();
  CLI::App* app = parent.add_subcommand("watch", "The report of a run, live in a browser");
  add_run_argument(*app, flags->run);
  add_value(*app, "--port", flags->port, "N", "Of 127.0.0.1; 0 takes a free one (8720)");
  app->footer(R"(
Shows the page of 'fedhur report' and adds every round when it is finished. It only reads the run
folder, and answers only to this machine. The run may be finished, or not have begun its first round.

Example, in a second terminal:
  fedhur watch runs/fedhur-0001)");
  return {.app = app, .run = [flags] { return watch(*flags); }};
}
}  // namespace fedhur::apps
