// All that a run folder tells about its run, finished or not.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "fedhur/experiment/run_folder.hpp"

namespace fedhur::apps {
struct RunRecord {
  std::string name;          // the folder's own name, or its path where that is not unique
  report::RunResult result;  // of the rounds so far, if it is not finished
  bool is_finished = false;
  std::string data_sha256;
  std::map<std::string, std::string> settings;  // resolved, values as TOML; empty if not readable
  std::string manifest;                         // JSON
  std::vector<report::RoundReport> rounds;
  std::string inside;  // JSON; empty before the first checkpoint
};

// ConfigError for a folder without a run. Settings that cannot be read are a warning.
[[nodiscard]] RunRecord read_run(const std::string& path, std::vector<std::string>& warnings);

// Names as short as they can be: without their folders, where that leaves no two alike.
void shorten_names(std::vector<RunRecord>& runs);

struct DifferingSetting {
  std::string key;
  std::vector<std::string> values;  // one per run, "-" where it has none
};
// Without the seed and what changes no result.
[[nodiscard]] std::vector<DifferingSetting> find_differences(const std::vector<RunRecord>& runs);
// Runs that differ in nothing but the seed, by their positions; every run is in one group.
[[nodiscard]] std::vector<std::vector<std::size_t>> group_by_settings(
    const std::vector<RunRecord>& runs);
// Why the numbers of these runs cannot be held against each other.
[[nodiscard]] std::vector<std::string> find_unfairness(const std::vector<RunRecord>& runs);
}  // namespace fedhur::apps
