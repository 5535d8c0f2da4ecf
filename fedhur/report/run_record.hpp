// All that a run tells about itself, finished or not, and how runs belong together.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/report/inside_report.hpp"
#include "fedhur/report/round_report.hpp"

namespace fedhur::report {
// Where a run's numbers come from.
struct Origin {
  std::string version;
  std::string compiler;
  std::string cpu;
  std::string threads;  // of every sitting
  std::string start;    // "2026-01-31T12:00:00Z"; empty: not yet
  std::string end;
  std::optional<Index> num_interactions;
  std::string data_sha256;
  std::size_t num_sittings = 0;  // a new one may have taken rounds back
  bool has_stopped = false;      // no process works on it
};

struct RunRecord {
  std::string name;          // the folder's own name, or its path where that is not unique
  RunResult result;          // of the rounds so far, if it is not finished
  bool is_finished = false;  // otherwise it may go on
  Origin origin;
  std::map<std::string, std::string> settings;  // resolved, values as TOML; empty if not readable
  std::vector<RoundReport> rounds;
  std::optional<Inside> inside;  // none before the first checkpoint
  std::string inside_hash;       // of its bytes
};

// What a run's result would be if it ended with these rounds.
void add_up(const std::vector<RoundReport>& rounds, RunResult& result);

// Names as short as they can be: without their folders, where that leaves no two alike.
void shorten_names(std::vector<RunRecord>& runs);

struct DifferingSetting {
  std::string key;
  std::vector<std::string> values;  // one per run, "-" where it has none
};
// Without the seed and what changes no result.
[[nodiscard]] std::vector<DifferingSetting> find_differences(const std::vector<RunRecord>& runs);

// Runs that differ in nothing but the seed.
struct RunGroup {
  std::vector<std::size_t> runs;  // positions
  std::string label;  // the method, and what sets the group apart from others of the same method
  std::vector<std::uint64_t> seeds;  // of its runs
};
// In the order of their first runs; every run is in one.
[[nodiscard]] std::vector<RunGroup> group_by_settings(
    const std::vector<RunRecord>& runs, const std::vector<DifferingSetting>& differences);

// Why the numbers of these runs cannot be held against each other.
[[nodiscard]] std::vector<std::string> find_unfairness(
    const std::vector<RunRecord>& runs, const std::vector<RunGroup>& groups,
    const std::vector<DifferingSetting>& differences);
}  // namespace fedhur::report
