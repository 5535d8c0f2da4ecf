// The flags of fedhur reproduce, and how they become runs.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/figure_files.hpp"
#include "fedhur/study/reproduction.hpp"

namespace fedhur::apps {
struct ReproduceFlags {
  std::string kind;  // table, figure or all
  std::string name;
  std::vector<std::string> data;
  std::string seeds = "5";
  std::vector<std::string> assignments;
  std::optional<std::int64_t> rounds;
  std::optional<std::int64_t> at_round;
  std::optional<double> minutes;
  std::int64_t parallel = 0;
  std::int64_t correlation_round = 3;
  std::string item;
  std::int64_t client = 0;
  std::int64_t hierarchy_round = 5;
  std::string out = "reproduction";
  FigureFolders figures;
  bool is_json = false;
  bool is_quiet = false;
};

void add_reproduce_flags(CLI::App& app, ReproduceFlags& flags);

// Names of artefacts that are not tables of runs.
constexpr const char* kCorrelation = "correlation";
constexpr const char* kHierarchy = "hierarchy";
// What was asked for: names of tables of runs, and those above. ConfigError that names the nearest
// one.
[[nodiscard]] std::vector<std::string> read_tables(const ReproduceFlags& flags);
// ConfigError or DataError for what would make all runs fail.
[[nodiscard]] study::ReproductionConfig read_reproduction_config(const ReproduceFlags& flags);
}  // namespace fedhur::apps
