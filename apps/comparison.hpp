// Runs side by side: what they reached, where their settings differ, and whether that is fair.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fedhur/evaluate/statistics.hpp"
#include "fedhur/report/round_report.hpp"

namespace fedhur::apps {
struct ComparedRun {
  std::string name;  // the folder's own name, or its path where that is not unique
  report::RunResult result;
  std::string data_sha256;
  std::map<std::string, std::string> settings;  // resolved, values as TOML; empty if not readable
};

struct DifferingSetting {
  std::string key;
  std::vector<std::string> values;  // one per run, "-" where it has none
};

// Runs that differ in nothing but the seed.
struct SeedGroup {
  std::vector<std::size_t> runs;
  std::map<std::string, evaluate::Spread> test;
};

struct Comparison {
  std::vector<ComparedRun> runs;
  std::vector<DifferingSetting> settings;  // without the seed and what changes no result
  std::vector<SeedGroup> groups;           // of two runs or more
  std::vector<std::string> warnings;       // why the numbers cannot be held against each other
};

// ConfigError for a folder without a finished run.
[[nodiscard]] Comparison compare_runs(const std::vector<std::string>& folders);
}  // namespace fedhur::apps
