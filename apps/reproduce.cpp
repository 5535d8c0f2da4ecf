// fedhur reproduce: a table or figure of the paper, made anew.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <memory>

#include "apps/command.hpp"
#include "apps/hierarchy_figure.hpp"
#include "apps/interrupt.hpp"
#include "apps/output.hpp"
#include "apps/reproduce_flags.hpp"
#include "apps/table_figures.hpp"
#include "apps/text.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/base/memory.hpp"
#include "fedhur/experiment/manifest.hpp"

namespace fedhur::apps {
namespace {
using experiment::BatchOutcome;
using experiment::RunState;
using study::Cell;
using study::PaperTable;

// Ctrl-C, or the minutes are over.
class Deadline {
 public:
  explicit Deadline(std::optional<double> minutes) {
    if (minutes && !(*minutes > 0)) {
      throw ConfigError(fmt::format("--minutes {}: expected a number above 0", *minutes));
    }
    if (minutes) end_ = Clock::now() + std::chrono::duration<double>(*minutes * 60.0);
  }
  [[nodiscard]] bool is_over() const {
    return was_interrupted() || (end_ && Clock::now() >= *end_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<std::chrono::time_point<Clock, std::chrono::duration<double>>> end_;
};

std::string describe_end(const PaperTable& table, const std::string& data, const Cell& cell,
                         const BatchOutcome& outcome) {
  const std::string what =
      fmt::format("{} {}: {}, seed {}", table.name, data, table.rows[cell.row].label, cell.seed);
  if (outcome.state == RunState::failed) return fmt::format("{}: {}\n", what, outcome.problem);
  const auto ndcg = outcome.result.test.find("ndcg@10");
  return fmt::format("{}: test ndcg@10 {}, round {} of {}, {}\n", what,
                     ndcg == outcome.result.test.end() ? "-" : fmt::format("{:.4f}", ndcg->second),
                     outcome.result.best_round, outcome.result.num_rounds,
                     format_clock(outcome.result.seconds.at("total")));
}

std::vector<std::string> notes_on(const study::ReproductionConfig& config, std::size_t num_missing,
                                  std::size_t num_runs) {
  std::vector<std::string> notes = {fmt::format("seeds {}; fedhur {}; {}",
                                                fmt::join(config.seeds, ", "),
                                                experiment::version(), experiment::cpu_name())};
  if (!config.assignments.empty()) {
    notes.push_back(fmt::format("all runs with {}", fmt::join(config.assignments, ", ")));
  }
  if (num_missing > 0) {
    notes.push_back(fmt::format("not finished: {} of {} runs are missing", num_missing, num_runs));
  }
  return notes;
}

void write_table(const std::string& name, const std::string& markdown, const std::string& csv,
                 const std::string& json, const ReproduceFlags& flags) {
  const std::filesystem::path folder = flags.out;
  write_file_atomically(folder / (name + ".md"), markdown);
  write_file_atomically(folder / (name + ".csv"), csv);
  write_file_atomically(folder / (name + ".json"), json);
  print(flags.is_json ? json : markdown + "\n");
}

void draw(const ReproduceFlags& flags, const DrawFigures& figures) {
  for (const std::string& file : write_figures(flags.figures, figures)) {
    const std::string line = fmt::format("figure: {}\n", file);
    if (!flags.is_json) {
      print(line);
    } else if (!flags.is_quiet) {
      say(line);  // standard output is for the table alone
    }
  }
}

struct Outcome {
  bool is_whole = true;
  bool has_failures = false;
};

void make_runs(const PaperTable& table, const study::ReproductionConfig& config,
               const ReproduceFlags& flags, const Deadline& deadline, Outcome& outcome) {
  std::vector<Cell> cells = study::plan_cells(table, config);
  std::size_t num_ended = 0;
  study::run_cells(
      cells, table, config,
      [&](const Cell& cell, const BatchOutcome& end) {
        ++num_ended;
        if (flags.is_quiet) return;
        say(fmt::format("[{}/{}] {}", num_ended, cells.size(),
                        describe_end(table, config.data[cell.data].name, cell, end)));
      },
      [&] { return deadline.is_over(); });
  std::size_t num_missing = 0;
  for (const Cell& cell : cells) {
    if (cell.outcome.state == RunState::interrupted) ++num_missing;
    if (cell.outcome.state == RunState::failed) outcome.has_failures = true;
  }
  outcome.is_whole = outcome.is_whole && num_missing == 0;
  auto notes = notes_on(config, num_missing, cells.size());
  std::string name = table.name;
  if (flags.at_round) {
    study::look_at_round(cells, *flags.at_round);
    notes.push_back(fmt::format("after {} rounds of every run", *flags.at_round));
    name += fmt::format("-after-{}", *flags.at_round);
  }
  const study::Summary summary = study::summarize(table, config, cells);
  write_table(name, study::to_markdown(summary, notes), study::to_csv(summary),
              study::to_json(summary, notes), flags);
  draw(flags, [&](FigureFormat format) { return draw_table(summary, format); });
}

void make_correlations(const study::ReproductionConfig& config, const ReproduceFlags& flags,
                       const Deadline& deadline, Outcome& outcome) {
  const auto cells = study::run_correlations(
      config, flags.correlation_round,
      [&](const study::CorrelationCell& cell) {
        if (flags.is_quiet) return;
        say(fmt::format("correlation {}: seed {}\n", config.data[cell.data].name, cell.seed));
      },
      [&] { return deadline.is_over(); });
  std::size_t num_missing = 0;
  for (const auto& cell : cells) num_missing += cell.correlations.empty() ? 1 : 0;
  outcome.is_whole = outcome.is_whole && num_missing == 0;
  auto notes = notes_on(config, num_missing, cells.size());
  notes.push_back(fmt::format("in the round after {} rounds", flags.correlation_round));
  write_table(kCorrelation, study::to_markdown(cells, config, notes), study::to_csv(cells, config),
              study::to_json(cells, config, notes), flags);
  draw(flags, [&](FigureFormat format) { return draw_correlations(cells, config, format); });
}

// A figure per data set, of the first seed.
void make_hierarchies(const study::ReproductionConfig& config, const ReproduceFlags& flags,
                      const Deadline& deadline, Outcome& outcome) {
  for (const study::DataSource& data : config.data) {
    if (deadline.is_over()) {
      outcome.is_whole = false;
      return;
    }
    const ConfigTable settings =
        study::settings_of(study::proposal(), data, config.assignments, config.seeds.front());
    const study::ItemRelations relations =
        study::find_item_relations(settings, flags.item, flags.client, flags.hierarchy_round);
    const std::string name = fmt::format("{}-{}", kHierarchy, data.name);
    write_table(name, study::to_markdown(relations), study::to_csv(relations),
                study::to_json(relations), flags);
    draw(flags,
         [&](FigureFormat format) { return draw_hierarchy(relations, plain(name), format); });
  }
}

int reproduce(const ReproduceFlags& flags) {
  const std::vector<std::string> tables = read_tables(flags);
  const study::ReproductionConfig config = read_reproduction_config(flags);
  const Deadline deadline(flags.minutes);
  // Mistakes come to light before hours of work, and so does a missing gnuplot.
  for (const std::string& name : tables) {
    const bool is_of_runs = name != kCorrelation && name != kHierarchy;
    (void)study::plan_cells(
        is_of_runs ? study::find_table(name) : PaperTable{name, "", {study::proposal()}}, config);
  }
  check_figures(flags.figures);
  make_folder(config.folder);
  keep_freed_memory();
  note_interrupts();
  Outcome outcome;
  for (const std::string& name : tables) {
    if (name == kCorrelation) {
      make_correlations(config, flags, deadline, outcome);
    } else if (name == kHierarchy) {
      make_hierarchies(config, flags, deadline, outcome);
    } else {
      make_runs(study::find_table(name), config, flags, deadline, outcome);
    }
  }
  if (!outcome.is_whole) {
    say(fmt::format("fedhur: not all runs are done; the same command goes on with {}\n",
                    shell_quoted(config.folder)));
  }
  if (was_interrupted()) return ExitCode::interrupted;
  return outcome.has_failures ? ExitCode::unexpected_failure : ExitCode::done;
}
}  // namespace

Command add_reproduce(CLI::App& parent) {
  auto flags = std::make_shared<ReproduceFlags>();
  CLI::App* app = parent.add_subcommand("reproduce", "A table or figure of the paper");
  add_reproduce_flags(*app, *flags);
  app->footer(R"(
Tables:  overall, relations, query, scorer, correlation, efficiency
Figures: hierarchy, sensitivity
Methods run with the settings of configs/tuned/<data>/<method>.toml where there are any.
Runs are kept below DIR and never repeated; each table is written as .md, .csv and .json.
Beside every figure is its gnuplot script, data included.

Examples:
  fedhur reproduce table overall --data ml-100k/u.data --seeds 5
  fedhur reproduce figure sensitivity --data ml-100k/u.data --pdf figures
  fedhur reproduce all --data ml-100k/u.data --data book/split.tsv --minutes 60)");
  return {.app = app, .run = [flags] { return reproduce(*flags); }};
}
}  // namespace fedhur::apps
