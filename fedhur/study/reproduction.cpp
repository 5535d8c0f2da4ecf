#include "fedhur/study/reproduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "fedhur/base/hash.hpp"
#include "fedhur/experiment/prepare_data.hpp"
#include "fedhur/experiment/run_folder.hpp"
#include "fedhur/study/preset_settings.hpp"
#include "fedhur/study/tuned_settings.hpp"

namespace fedhur::study {
namespace fs = std::filesystem;
namespace {
// A folder for these settings and no others, whichever table asks for them.
fs::path folder_of(const ConfigTable& table, const DataSource& data, const std::string& method,
                   std::uint64_t seed) {
  const auto [config, settings] = experiment::resolve(table);
  if (std::ranges::find(config.evaluation.cutoffs, 10) == config.evaluation.cutoffs.end()) {
    throw ConfigError("evaluate.k lacks 10: the paper's tables are about metrics at 10");
  }
  std::string text;
  for (const Setting& setting : settings) {
    if (setting.key == "seed" || setting.key == "threads") continue;
    text += setting.key + "=" + to_toml(setting.value) + "\n";
  }
  return fs::path(data.name) /
         fmt::format("{}-{}", method, sha256_hex(std::as_bytes(std::span(text))).substr(0, 8)) /
         fmt::format("{}", seed);
}
}  // namespace

ConfigTable settings_of(const Row& row, const DataSource& data, const ReproductionConfig& config,
                        std::uint64_t seed) {
  ConfigTable table = config.preset.empty() ? tuned_settings(data.name, row.method)
                                            : preset_or_defaults(config.preset, row.method);
  for (const std::string& assignment : row.assignments) {
    experiment::add_assignment(table, assignment);
  }
  for (const std::string& assignment : config.assignments) {
    experiment::add_assignment(table, assignment);
  }
  table.set("data.path", data.path, "--data");
  table.set("seed", static_cast<std::int64_t>(seed), "--seeds");
  return table;
}

DataSource find_source(const std::string& path) {
  experiment::DataConfig config;
  config.path = path;
  return {.name = experiment::load_dataset(config).name,
          .path = path == experiment::kSynthetic ? path : fs::absolute(path).string()};
}

std::vector<Cell> plan_cells(const PaperTable& table, const ReproductionConfig& config) {
  // Times of runs that shared the machine with others are not to be taken for measurements.
  const fs::path root = config.folder / (table.measures_time ? "timed-cells" : "cells");
  std::vector<Cell> cells;
  for (std::size_t data = 0; data < config.data.size(); ++data) {
    for (const std::uint64_t seed : config.seeds) {
      for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const DataSource& source = config.data[data];
        ConfigTable settings = settings_of(table.rows[row], source, config, seed);
        const fs::path folder = folder_of(settings, source, table.rows[row].method, seed);
        cells.push_back({.row = row,
                         .data = data,
                         .seed = seed,
                         .run = {.settings = std::move(settings), .folder = root / folder},
                         .outcome = {}});
      }
    }
  }
  return cells;
}

void run_cells(std::vector<Cell>& cells, const PaperTable& table, const ReproductionConfig& config,
               const CellHook& on_end, const std::function<bool()>& should_stop) {
  // Two rows may be the same run, such as a default spelled out.
  std::map<fs::path, std::size_t> run_of;
  std::vector<std::size_t> first_cell;
  std::vector<experiment::BatchRun> runs;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    if (!run_of.emplace(cells[cell].run.folder, runs.size()).second) continue;
    first_cell.push_back(cell);
    runs.push_back(cells[cell].run);
  }
  experiment::BatchHooks hooks;
  hooks.on_end = [&](std::size_t run, const experiment::BatchOutcome& outcome) {
    if (on_end) on_end(cells[first_cell[run]], outcome);
  };
  hooks.should_stop = should_stop;
  const auto outcomes = experiment::run_batch(
      runs, {.parallel = table.measures_time ? 1 : config.parallel, .keeps_models = false}, hooks);
  for (Cell& cell : cells) cell.outcome = outcomes[run_of.at(cell.run.folder)];
}

void look_at_round(std::vector<Cell>& cells, Round num_rounds) {
  for (Cell& cell : cells) {
    if (cell.outcome.state != experiment::RunState::finished) continue;
    const auto rounds = experiment::RunFolder::open(cell.run.folder).read_rounds();
    if (rounds.empty()) continue;
    const auto last = static_cast<Round>(rounds.size());
    const auto& chosen = rounds[static_cast<std::size_t>(std::min(num_rounds, last) - 1)];
    cell.outcome.result.valid = chosen.valid;
    cell.outcome.result.test = chosen.test;
    cell.outcome.result.best_round = chosen.round + 1;
  }
}
}  // namespace fedhur::study
