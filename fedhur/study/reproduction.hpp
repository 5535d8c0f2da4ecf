// The runs behind a table: made once, kept, and shared by all tables that need them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fedhur/experiment/batch.hpp"
#include "fedhur/study/paper.hpp"

namespace fedhur::study {
struct DataSource {
  std::string name;  // as the loader has it: "ml-100k"
  std::string path;
};
// Loads the data set for a moment, so that a wrong path is known before hours of work.
[[nodiscard]] DataSource find_source(const std::string& path);

struct ReproductionConfig {
  std::vector<DataSource> data;
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> assignments;  // on top of every run's settings, as for --set
  std::string preset = {};               // in place of tuned settings: configs/preset/<preset>
  Index parallel = 1;                    // runs at a time; tables that measure time take one
  std::filesystem::path folder;          // runs go to <folder>/cells/
};

// What a row runs with: tuned settings or those of the preset, the row's own, those of all runs,
// data and seed.
[[nodiscard]] ConfigTable settings_of(const Row& row, const DataSource& data,
                                      const ReproductionConfig& config, std::uint64_t seed);

struct Cell {
  std::size_t row = 0;   // of the table
  std::size_t data = 0;  // of the configuration
  std::uint64_t seed = 0;
  experiment::BatchRun run;
  experiment::BatchOutcome outcome;
};

// All cells of a table before anything has run. ConfigError if a setting is not allowed.
[[nodiscard]] std::vector<Cell> plan_cells(const PaperTable& table,
                                           const ReproductionConfig& config);
// Makes the runs that are missing. `on_end` tells of the cells that end now, in any order.
using CellHook = std::function<void(const Cell& cell, const experiment::BatchOutcome& outcome)>;
void run_cells(std::vector<Cell>& cells, const PaperTable& table, const ReproductionConfig& config,
               const CellHook& on_end, const std::function<bool()>& should_stop);
// Has finished cells tell the metrics after so many rounds instead of those of their best round: at
// equal rounds runs differ by what they are, not by which round validation happened to choose. A
// run that has ended before counts with its last round.
void look_at_round(std::vector<Cell>& cells, Round num_rounds);
}  // namespace fedhur::study
