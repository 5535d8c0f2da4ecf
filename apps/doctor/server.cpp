#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "apps/doctor/checks.hpp"
#include "apps/doctor/disk.hpp"
#include "apps/doctor/network.hpp"
#include "apps/text.hpp"
#include "fedhur/base/hash.hpp"
#include "fedhur/data/catalogue.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/manifest.hpp"
#include "fedhur/experiment/run_folder.hpp"

namespace fedhur::apps {
namespace {
namespace fs = std::filesystem;
using experiment::ExperimentConfig;
using experiment::RunFolder;
constexpr const char* kSettings = "settings";
constexpr const char* kRunFolder = "run folder";

// What the server would train with.
struct ServerPlan {
  ConfigTable table;
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

// A deadline that no site can keep, or that one dead site can hold everybody up for.
void judge_plan(const ExperimentConfig& config, Checkup& checkup) {
  constexpr double kShort = 10;
  constexpr double kLong = 86400;
  const double deadline = config.federation->deadline_seconds;
  const std::string found = describe_plan(config);
  if (deadline >= kShort && deadline <= kLong) return checkup.ok(kSettings, found);
  checkup.warn(kSettings, found,
               deadline < kShort
                   ? "--deadline has to be longer than the slowest site needs for a round of local "
                     "training: some minutes"
                   : "a site that has died holds all others up for that long: choose a --deadline "
                     "of minutes or hours");
}

ServerPlan check_settings(const ServerFlags& flags, Checkup& checkup) {
  ServerPlan plan;
  if (!flags.resume.empty() && !RunFolder::is_run(flags.resume)) {
    checkup.skip(kSettings, fmt::format("{} has none: there is no run in it", flags.resume));
    return plan;
  }
  try {
    plan.table = flags.resume.empty() ? settings_of_new_run(flags) : settings_of_old_run(flags);
    plan.config = experiment::read_experiment_config(plan.table);
    if (!plan.config->federation) {
      plan.config.reset();
      throw ConfigError(
          fmt::format("{} is not the run of a server: it has no [federation]", flags.resume));
    }
    judge_plan(*plan.config, checkup);
  } catch (const Error& error) {
    checkup.fail(ExitCode::wrong_usage, kSettings, error.what(),
                 "'fedhur server --help' explains the flags, docs/settings.md the settings");
  }
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
  constexpr const char* kCatalogue = "catalogue";
  const std::string items = plan.config ? plan.config->federation->items : flags.items;
  if (items.empty()) {
    checkup.skip(kCatalogue, "the settings do not say where it is");
    return std::nullopt;
  }
  try {
    const data::Catalogue catalogue = data::load_catalogue(items);
    const auto count = static_cast<Index>(catalogue.names.size());
    if (!flags.resume.empty()) check_same_catalogue(flags.resume, items, catalogue);
    checkup.ok(kCatalogue, fmt::format("{}: {} items", items, format_count(count)));
    return count;
  } catch (const Error& error) {
    checkup.fail(
        ExitCode::bad_data, kCatalogue, error.what(),
        flags.resume.empty()
            ? fmt::format("write it anew: fedhur data items DATA --out {}", shell_quoted(items))
            : "put the file of the run's beginning back, or begin a new run");
    return std::nullopt;
  }
}

// Every site is a connection, and a connection is a file.
void check_open_files(Index clients, Checkup& checkup) {
  constexpr const char* kOpenFiles = "open files";
  constexpr Index kOthers = 100;  // of the program itself
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return checkup.skip(kOpenFiles, "no limit is known");
  const Index needed = clients + kOthers;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= static_cast<rlim_t>(needed)) {
    return checkup.ok(
        kOpenFiles, fmt::format("at most {}, {} needed if each client is a site of "
                                "its own",
                                limit.rlim_cur == RLIM_INFINITY ? std::string("any number")
                                                                : fmt::format("{}", limit.rlim_cur),
                                needed));
  }
  checkup.warn(
      kOpenFiles,
      fmt::format("at most {}, but {} are needed if each client is a site of its own",
                  limit.rlim_cur, needed),
      fmt::format("ulimit -n {}, or LimitNOFILE={} in the service's unit", needed, needed));
}

double free_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    double kilobytes = 0;
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

void check_memory(const SizeEstimate& need, Checkup& checkup) {
  constexpr const char* kMemory = "memory";
  const double bytes = free_memory();
  if (bytes <= 0) return checkup.skip(kMemory, "this system does not say how much is free");
  const std::string found =
      fmt::format("{} free, about {} needed for a round's replies; {} cores", format_bytes(bytes),
                  format_bytes(need.bytes), std::thread::hardware_concurrency());
  if (bytes >= need.bytes) return checkup.ok(kMemory, found);
  checkup.warn(kMemory, found, "take a machine with more memory, or a smaller model.embedding_dim");
}

// Whether a new run can begin in --out.
bool check_new_run(const ServerFlags& flags, const fs::path& folder, Checkup& checkup) {
  std::error_code error;
  if (!flags.out.empty() && fs::is_directory(folder, error) && !fs::is_empty(folder, error)) {
    const bool is_run = RunFolder::is_run(folder);
    checkup.fail(
        ExitCode::wrong_usage, kRunFolder,
        fmt::format("{} {}", flags.out, is_run ? "has a run already" : "exists and is not empty"),
        is_run ? fmt::format("go on with it: fedhur server --resume {}; or choose another "
                             "--out",
                             shell_quoted(folder))
               : "choose another --out");
    return false;
  }
  checkup.ok(kRunFolder, fmt::format("{} can be written", folder.string()));
  return true;
}

bool check_old_run(const ServerFlags& flags, Checkup& checkup) {
  if (!RunFolder::is_run(flags.resume)) {
    checkup.fail(ExitCode::wrong_usage, kRunFolder,
                 fmt::format("{} is not a run folder: it has no config.toml", flags.resume),
                 "give --resume the folder that was --out; for a new run leave it out");
    return false;
  }
  const RunFolder folder = RunFolder::open(flags.resume);
  if (folder.is_finished()) {
    checkup.fail(ExitCode::wrong_usage, kRunFolder, flags.resume + " is finished already",
                 "'fedhur report' shows it; for a new run choose another --out");
    return false;
  }
  if (is_locked(folder.replies())) {
    checkup.warn(kRunFolder, flags.resume + ": a process works with it",
                 "that is this server if it runs already: then nothing is to be done");
    return true;
  }
  checkup.ok(kRunFolder, fmt::format("{} goes on with round {}", flags.resume,
                                     folder.read_rounds().size() + 1));
  return true;
}

void check_run_folder(const ServerFlags& flags, const std::optional<SizeEstimate>& need,
                      Checkup& checkup) {
  const bool is_old = !flags.resume.empty();
  const fs::path folder = is_old ? flags.resume : flags.out.empty() ? "runs" : flags.out;
  try {
    const bool is_good =
        check_folder(kRunFolder, folder, is_old ? "--resume" : "--out", checkup) &&
        (is_old ? check_old_run(flags, checkup) : check_new_run(flags, folder, checkup));
    if (is_good) check_disk_space(folder, need, checkup);
  } catch (const Error& error) {
    checkup.fail(ExitCode::wrong_usage, kRunFolder, error.what(),
                 "let the user that runs fedhur write to that folder");
  }
}
}  // namespace

void check_server(const ServerFlags& flags, Checkup& checkup) {
  const ServerPlan plan = check_settings(flags, checkup);
  const auto items = check_catalogue(flags, plan, checkup);
  const CheckedIdentity identity =
      check_identity_files(flags.identity, pki::Purpose::server, checkup);
  check_clock(identity.dates, checkup);
  check_listening(flags, checkup);
  std::optional<SizeEstimate> need;
  if (plan.config && items) {
    need = estimate_server(plan.config->federation->clients, *items, plan.table);
  }
  check_run_folder(flags, need, checkup);
  if (need) check_memory(*need, checkup);
  if (plan.config) check_open_files(plan.config->federation->clients, checkup);
}
}  // namespace fedhur::apps
