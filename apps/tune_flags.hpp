// The flags of fedhur tune, and how they become a search.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common_flags.hpp"
#include "fedhur/tune/plan.hpp"

namespace fedhur::apps {
struct TuneFlags {
  SettingFlags settings;
  std::string search = "random";
  std::string space;
  std::string seeds;
  std::string criterion;
  std::string out;
  std::optional<std::int64_t> num_trials;
  std::optional<double> minutes;
  std::int64_t search_seed = 1;
  std::optional<std::int64_t> parallel;
  tune::HalvingConfig halving;
  bool shows_space = false;
  bool is_json = false;
  bool is_quiet = false;
};

void add_tune_flags(CLI::App& app, TuneFlags& flags);

// The names in --method; a single empty one leaves the choice to the configuration.
[[nodiscard]] std::vector<std::string> read_methods(const TuneFlags& flags);
// ConfigError that names the flag, its value and what was expected.
[[nodiscard]] tune::TuneConfig read_tune_config(const TuneFlags& flags);
}  // namespace fedhur::apps
