#include <fmt/format.h>
#include <sys/resource.h>

#include <fstream>
#include <thread>

#include "apps/doctor/checks.hpp"
#include "fedhur/base/hash.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/data/catalogue.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/manifest.hpp"
#include "fedhur/experiment/run_folder.hpp"

namespace fedhur::apps {
namespace {
namespace fs = std::filesystem;
using experiment::ExperimentConfig;
using experiment::RunFolder;

// What the server would train with.
struct ServerPlan {
  std::vector<Setting> settings;
  std::optional<ExperimentConfig> config;  // none if the settings have a problem
};

std::string describe_plan(const ExperimentConfig& config) {
  const experiment::FederationConfig& federation = *config.federation;
  const std::string quorum =
      federation.quorum > 0 && federation.quorum < federation.clients
          ? fmt::format("{} of them have to answer", federation.quorum)
          : "all of them have to answer, so that one that stays away ends the run";
  return fmt::format("{}, {} clients; {}, within {} s", config.method, federation.clients, quorum,
                     federation.deadline_seconds);
}

// A deadline that no site can keep, or that one dead site can hold all others up for.
Finding judge_plan(const ExperimentConfig& config) {
  constexpr double kShort = 10;
  constexpr double kLong = 86400;
  const double deadline = config.federation->deadline_seconds;
  const std::string found = describe_plan(config);
  if (deadline >= kShort && deadline <= kLong) return pass(found);
  return warn(found, deadline < kShort
                         ? "--deadline has to be longer than the slowest site needs for a round of "
                           "local training: some minutes"
                         : "a site that has died holds all others up for that long: choose a "
                           "--deadline of minutes or hours");
}

ServerPlan check_settings(const ServerFlags& flags, Checkup& checkup) {
  ServerPlan plan;
  constexpr const char* kMend =
      "'fedhur server --help' explains the flags, docs/settings.md the settings";
  (void)checkup.run("settings", kMend, [&] {
    if (!flags.resume.empty() && !RunFolder::is_run(flags.resume)) {
      return skip(fmt::format("{} has none: there is no run in it", flags.resume));
    }
    auto [config, settings] = experiment::resolve(
        flags.resume.empty() ? settings_of_new_run(flags) : settings_of_old_run(flags));
    if (!config.federation) {
      return fail(
          fmt::format("{} is not the run of a server: it has no [federation]", flags.resume),
          kMend);
    }
    plan = {.settings = std::move(settings), .config = std::move(config)};
    return judge_plan(*plan.config);
  });
  return plan;
}

// DataError if the run has begun with another.
void check_same_catalogue(const fs::path& run, const std::string& items,
                          const data::Catalogue& catalogue) {
  const std::string text = data::to_text(catalogue);
  data::Dataset dataset;
  dataset.name = items;
  dataset.sha256 = sha256_hex(std::as_bytes(std::span(text)));
  experiment::check_same_data(RunFolder::open(run).manifest(), dataset);
}

// Number of items; nothing if the catalogue cannot be read.
std::optional<Index> check_catalogue(const ServerFlags& flags, const ServerPlan& plan,
                                     Checkup& checkup) {
  std::optional<Index> count;
  const std::string items = plan.config ? plan.config->federation->items : flags.items;
  const std::string mend =
      flags.resume.empty()
          ? fmt::format("write it anew: fedhur data items DATA --out {}", shell_quoted(items))
          : "put the file of the run's beginning back, or begin a new run";
  const auto check = [&] {
    if (items.empty()) return skip("the settings do not say where it is");
    const data::Catalogue catalogue = data::load_catalogue(items);
    if (!flags.resume.empty()) check_same_catalogue(flags.resume, items, catalogue);
    count = static_cast<Index>(catalogue.names.size());
    return pass(fmt::format("{}: {} items", items, format_count(*count)));
  };
  (void)checkup.run("catalogue", mend, check, ExitCode::bad_data);
  return count;
}

// Every site is a connection, and a connection is a file.
Finding check_open_files(Index clients) {
  constexpr Index kOthers = 100;  // of the program itself
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return skip("no limit is known");
  const Index needed = clients + kOthers;
  const bool is_unlimited = limit.rlim_cur == RLIM_INFINITY;
  if (is_unlimited || limit.rlim_cur >= static_cast<rlim_t>(needed)) {
    return pass(fmt::format("at most {}, {} needed if each client is a site of its own",
                            is_unlimited ? "any number" : fmt::to_string(limit.rlim_cur), needed));
  }
  return warn(fmt::format("at most {}, but {} are needed if each client is a site of its own",
                          limit.rlim_cur, needed),
              fmt::format("ulimit -n {0}, or LimitNOFILE={0} in the service's unit", needed));
}

double free_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    double kilobytes = 0;
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

Finding check_memory(const SizeEstimate& need) {
  const double bytes = free_memory();
  if (bytes <= 0) return skip("this system does not say how much is free");
  const std::string found =
      fmt::format("{} free, about {} needed for a round's replies; {} cores", format_bytes(bytes),
                  format_bytes(need.bytes), std::thread::hardware_concurrency());
  if (bytes >= need.bytes) return pass(found);
  return warn(found, "take a machine with more memory, or a smaller model.embedding_dim");
}

// Whether a new run can begin in --out.
Finding check_new_run(const ServerFlags& flags, const fs::path& folder) {
  std::error_code error;
  if (flags.out.empty() || !fs::is_directory(folder, error) || fs::is_empty(folder, error)) {
    return pass(fmt::format("{} can be written", folder.string()));
  }
  if (!RunFolder::is_run(folder)) {
    return fail(flags.out + " exists and is not empty", "choose another --out");
  }
  return fail(flags.out + " has a run already",
              fmt::format("go on with it: fedhur server --resume {}; or choose another --out",
                          shell_quoted(folder)));
}

Finding check_old_run(const ServerFlags& flags) {
  if (!RunFolder::is_run(flags.resume)) {
    return fail(fmt::format("{} is not a run folder: it has no config.toml", flags.resume),
                "give --resume the folder that was --out; for a new run leave it out");
  }
  const RunFolder folder = RunFolder::open(flags.resume);
  if (folder.is_finished()) {
    return fail(flags.resume + " is finished already",
                "'fedhur report' shows it; for a new run choose another --out");
  }
  if (is_locked(folder.replies())) {
    return warn(flags.resume + ": a process works with it",
                "that is this server if it runs already: then nothing is to be done");
  }
  return pass(
      fmt::format("{} goes on with round {}", flags.resume, folder.read_rounds().size() + 1));
}

void check_run_folder(const ServerFlags& flags, const std::optional<SizeEstimate>& need,
                      Checkup& checkup) {
  const bool is_old = !flags.resume.empty();
  const fs::path folder = is_old ? flags.resume : flags.out.empty() ? "runs" : flags.out;
  const bool is_good =
      checkup.run("run folder", "let the user that runs fedhur write to that folder", [&] {
        if (auto problem = check_folder(folder, is_old ? "--resume" : "--out")) return *problem;
        return is_old ? check_old_run(flags) : check_new_run(flags, folder);
      });
  if (is_good) checkup.add("disk space", check_disk_space(folder, need));
}
}  // namespace

void check_server(const ServerFlags& flags, Checkup& checkup) {
  const ServerPlan plan = check_settings(flags, checkup);
  const auto items = check_catalogue(flags, plan, checkup);
  const CheckedIdentity identity =
      check_identity_files(flags.identity, pki::Purpose::server, checkup);
  checkup.add("clock", check_clock(identity.dates));
  check_listening(flags, checkup);
  std::optional<SizeEstimate> need;
  if (plan.config && items) {
    need = estimate_server(plan.config->federation->clients, *items, plan.settings);
  }
  check_run_folder(flags, need, checkup);
  if (need) checkup.add("memory", check_memory(*need));
  if (plan.config) checkup.add("open files", check_open_files(plan.config->federation->clients));
}
}  // namespace fedhur::apps
