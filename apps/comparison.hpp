// Runs side by side: what they reached, where their settings differ, and whether that is fair.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "apps/run_record.hpp"
#include "fedhur/evaluate/statistics.hpp"

namespace fedhur::apps {
// Runs that differ in nothing but the seed.
struct SeedGroup {
  std::vector<std::size_t> runs;
  std::map<std::string, evaluate::Spread> test;
};

struct Comparison {
  std::vector<RunRecord> runs;
  std::vector<DifferingSetting> settings;
  std::vector<SeedGroup> groups;      // of two seeds or more
  std::vector<std::string> warnings;  // why the numbers cannot be held against each other
};

// ConfigError for a folder without a finished run.
[[nodiscard]] Comparison compare_runs(const std::vector<std::string>& folders);
}  // namespace fedhur::apps
