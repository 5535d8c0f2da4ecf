// Everything about a search that is settled before its first training.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/tune/trial.hpp"

namespace fedhur::tune {
// Successive halving: many trials for a few rounds, the better ones for more.
struct HalvingConfig {
  Round first_rounds = 5;  // of all trials
  Index factor = 3;        // one in so many goes on, with so many times the rounds
};
struct Rung {
  std::size_t num_trials = 0;
  Round num_rounds = 0;  // of each trial, counted from its beginning; 0: to its end
};

// The last rung goes to the end; it has at most `factor` trials, unless max_rounds comes before.
[[nodiscard]] std::vector<Rung> plan_rungs(std::size_t num_trials, const HalvingConfig& config,
                                           Round max_rounds);

enum class Search : std::uint8_t { grid, random, halving };
constexpr auto names_of(Search) { return std::array{"grid", "random", "halving"}; }

struct TuneConfig {
  Search search = Search::random;
  std::size_t num_trials = 30;
  double max_seconds = std::numeric_limits<double>::infinity();  // of one sitting
  std::vector<std::uint64_t> seeds;  // of every trial; if empty, the seed of the settings
  std::uint64_t search_seed = 1;     // of the draw of the points
  HalvingConfig halving;
  Index parallel = 1;  // runs at a time
};

struct TunePlan {
  TuneConfig config;
  ConfigTable settings;  // what all trials have in common
  SearchSpace space;     // resolved
  std::string method;
  std::string criterion;
  std::string data;
  std::string data_sha256;
  std::optional<std::uint64_t> grid_size;  // nothing where there are ranges
  std::vector<Point> points;               // one per trial
  std::vector<Rung> rungs;                 // a single one unless search is halving
};

// Reads the data once. ConfigError or DataError for what would make all trials fail, for a grid of
// ranges, and where no rows are there to choose by.
[[nodiscard]] TunePlan plan_tuning(const TuneConfig& config, ConfigTable settings,
                                   SearchSpace space);

// All that decides about trials and their numbers, as a TOML file; the budget is not part of it.
[[nodiscard]] std::string describe_search(const TunePlan& plan);
// The complete settings at a point, as a TOML file.
[[nodiscard]] std::string config_at(const TunePlan& plan, const Point& point);
// Of these only what was searched, as in configs/tuned/<data>/<method>.toml.
[[nodiscard]] std::string tuned_at(const TunePlan& plan, const Point& point);
}  // namespace fedhur::tune
