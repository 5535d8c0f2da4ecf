// fedhur reproduce: a table or figure of the paper, made anew.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <memory>

#include "apps/command.hpp"
#include "apps/common_flags.hpp"
#include "apps/figure_files.hpp"
#include "apps/interrupt.hpp"
#include "apps/output.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/base/memory.hpp"
#include "fedhur/base/nearest_name.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/manifest.hpp"
#include "fedhur/experiment/party.hpp"
#include "fedhur/study/conflicts.hpp"
#include "fedhur/study/figures.hpp"
#include "fedhur/study/reproduction.hpp"

namespace fedhur::apps {
namespace {
using experiment::BatchOutcome;
using experiment::RunState;
using study::Cell;
using study::PaperTable;

struct ReproduceFlags {
  std::string kind;  // table, figure or all
  std::string name;
  std::vector<std::string> data;
  std::string seeds = "5";
  std::vector<std::string> rows;
  std::vector<std::string> assignments;
  std::string preset;
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
  bool scales_curves = false;
  bool is_json = false;
  bool is_quiet = false;
};

// Names of artefacts that are not tables of runs.
constexpr const char* kCorrelation = "correlation";
constexpr const char* kHierarchy = "hierarchy";

// What can be asked for, and the tables that it consists of.
struct Artefact {
  const char* kind;
  const char* name;
  std::vector<std::string> tables;
  bool is_of_paper = true;  // what 'all' stands for
};
std::vector<Artefact> artefacts() {
  return {
      {"table", "overall", {"overall"}},
      {"table", "relations", {"relations"}},
      {"table", "query", {"query"}},
      {"table", "scorer", {"scorer"}},
      {"table", "correlation", {kCorrelation}},
      {"table", "efficiency", {"efficiency"}},
      {"figure", "sensitivity", {"levels", "directions"}},
      {"figure", "hierarchy", {kHierarchy}},
      {"table", "federations", {"federations"}, false},
      {"figure", "conflicts", {"conflicts"}, false},
  };
}

// What was asked for: names of tables of runs, and those above. ConfigError that names the nearest
// one.
std::vector<std::string> read_tables(const ReproduceFlags& flags) {
  std::vector<std::string> tables;
  std::vector<std::string> names;
  if (flags.kind == "all" && !flags.name.empty()) {
    throw ConfigError(fmt::format("'all' stands alone, without '{}'", flags.name));
  }
  for (const Artefact& artefact : artefacts()) {
    if (flags.kind == "all" ? !artefact.is_of_paper : flags.kind != artefact.kind) continue;
    names.emplace_back(artefact.name);
    if (flags.kind != "all" && flags.name != artefact.name) continue;
    tables.insert(tables.end(), artefact.tables.begin(), artefact.tables.end());
  }
  if (names.empty()) {
    throw ConfigError(fmt::format("'{}': expected table, figure or all{}", flags.kind,
                                  flags.kind.empty() ? ", as in 'fedhur reproduce all'" : ""));
  }
  if (tables.empty()) {
    const std::string known = fmt::format("; expected one of {}", fmt::join(names, ", "));
    throw ConfigError(flags.name.empty()
                          ? fmt::format("the name of a {} is missing{}", flags.kind, known)
                          : fmt::format("there is no {} '{}'{}", flags.kind, flags.name,
                                        hint(flags.name, names, known)));
  }
  return tables;
}

// ConfigError or DataError for what would make all runs fail.
study::ReproductionConfig read_reproduction_config(const ReproduceFlags& flags) {
  study::ReproductionConfig config;
  for (const std::string& path : flags.data) config.data.push_back(study::find_source(path));
  if (config.data.empty()) config.data.push_back(study::find_source(experiment::kSynthetic));
  for (std::size_t i = 0; i < config.data.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (config.data[i].name == config.data[j].name) {
        throw ConfigError(fmt::format("--data {} and {} are both called {}", config.data[j].path,
                                      config.data[i].path, config.data[i].name));
      }
    }
  }
  config.seeds = parse_seeds(flags.seeds);
  config.assignments = flags.assignments;
  config.preset = flags.preset;
  if (flags.rounds) {
    config.assignments.push_back(fmt::format("stop.max_rounds={}", *flags.rounds));
  }
  check_range("--parallel", flags.parallel, 0, 1024);
  if (flags.at_round) check_range("--at-round", *flags.at_round, 1, 1'000'000);
  check_range("--correlation-round", flags.correlation_round, 0, 10000);
  check_range("--hierarchy-round", flags.hierarchy_round, 1, 10000);
  config.parallel = experiment::num_threads(flags.parallel);
  config.folder = flags.out;
  return config;
}

// Ctrl-C, or the minutes are over.
class Deadline {
 public:
  explicit Deadline(std::optional<double> minutes) {
    if (minutes) end_ = Clock::now() + std::chrono::duration<double>(seconds_of(*minutes));
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
  if (!config.preset.empty()) notes.push_back(fmt::format("preset {}", config.preset));
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

struct MadeRuns {
  std::vector<Cell> cells;
  std::vector<std::string> notes;
  std::string name;  // of the files
};
MadeRuns make_runs(const PaperTable& table, const study::ReproductionConfig& config,
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
  return {.cells = std::move(cells), .notes = std::move(notes), .name = std::move(name)};
}

void make_table(const PaperTable& table, const study::ReproductionConfig& config,
                const ReproduceFlags& flags, const Deadline& deadline, Outcome& outcome) {
  const auto [cells, notes, name] = make_runs(table, config, flags, deadline, outcome);
  const study::Summary summary = study::summarize(table, config, cells);
  write_table(name, study::to_markdown(summary, notes), study::to_csv(summary),
              study::to_json(summary, notes), flags);
  const auto scale = flags.scales_curves ? study::CurveScale::unit : study::CurveScale::measured;
  draw(flags,
       [&](report::FigureFormat format) { return study::draw_table(summary, format, scale); });
}

void make_conflicts(const study::ConflictStudy& study, const study::ReproductionConfig& config,
                    const ReproduceFlags& flags, const Deadline& deadline, Outcome& outcome) {
  const auto [cells, notes, name] =
      make_runs(study::runs_of(study), config, flags, deadline, outcome);
  const study::ConflictSummary summary = study::summarize(study, config, cells);
  write_table(name, study::to_markdown(summary, notes), study::to_csv(summary),
              study::to_json(summary, notes), flags);
  draw(flags, [&](report::FigureFormat format) { return study::draw_conflicts(summary, format); });
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
  draw(flags, [&](report::FigureFormat format) {
    return study::draw_correlations(cells, config, format);
  });
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
        study::settings_of(study::proposal(), data, config, config.seeds.front());
    const study::ItemRelations relations =
        study::find_item_relations(settings, flags.item, flags.client, flags.hierarchy_round);
    const std::string name = fmt::format("{}-{}", kHierarchy, data.name);
    write_table(name, study::to_markdown(relations), study::to_csv(relations),
                study::to_json(relations), flags);
    draw(flags, [&](report::FigureFormat format) {
      return study::draw_hierarchy(relations, report::plain(name), format);
    });
  }
}

bool has_rows(const std::string& name) {
  return name != kCorrelation && name != kHierarchy && study::find_conflict_study(name) == nullptr;
}

// The runs of an artefact, or such as have its settings; of a table of runs the rows asked for.
PaperTable runs_of(const std::string& name, const ReproduceFlags& flags) {
  if (const auto* study = study::find_conflict_study(name)) return study::runs_of(*study);
  if (name == kCorrelation || name == kHierarchy) return {name, "", {study::proposal()}};
  return study::with_rows(study::find_table(name), flags.rows);
}

int reproduce(const ReproduceFlags& flags) {
  const std::vector<std::string> tables = read_tables(flags);
  if (!flags.rows.empty() && (tables.size() > 1 || !has_rows(tables.front()))) {
    throw ConfigError("--row: expected a single table whose rows are runs");
  }
  const study::ReproductionConfig config = read_reproduction_config(flags);
  const Deadline deadline(flags.minutes);
  // Mistakes come to light before hours of work, and so does a missing gnuplot.
  for (const std::string& name : tables) {
    (void)study::plan_cells(runs_of(name, flags), config);
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
    } else if (const auto* study = study::find_conflict_study(name)) {
      make_conflicts(*study, config, flags, deadline, outcome);
    } else {
      make_table(runs_of(name, flags), config, flags, deadline, outcome);
    }
  }
  if (!outcome.is_whole) {
    say(fmt::format("fedhur: not all runs are done; the same command goes on with {}\n",
                    shell_quoted(config.folder)));
  }
  if (was_interrupted()) return ExitCode::interrupted;
  return outcome.has_failures ? ExitCode::unexpected_failure : ExitCode::done;
}

void add_reproduce_flags(CLI::App& app, ReproduceFlags& flags) {
  add_value(app, "kind", flags.kind, "KIND", "table, figure or all");
  add_value(app, "name", flags.name, "NAME", "Which one");
  add_value(app, "--data", flags.data, "PATH",
            "Data set; may be repeated (default: built-in data)");
  add_value(app, "--seeds", flags.seeds, "N", "How many, or which: 5 or 1,2,3 (default: 5)");
  add_value(app, "--row", flags.rows, "LABEL",
            "Only this row of the table; may be repeated (default: all rows)")
      ->allow_extra_args(false);
  add_value(app, "--set", flags.assignments, "KEY=VALUE", "A setting of all runs; may be repeated");
  add_value(app, "--preset", flags.preset, "NAME",
            "Settings of all methods by one word in place of the tuned ones; `paper` is the "
            "published regime");
  add_value(app, "--rounds", flags.rounds, "N", "At most so many rounds per run");
  add_value(app, "--minutes", flags.minutes, "M", "Stop after this time; the same command goes on");
  add_value(app, "--parallel", flags.parallel, "N", "Runs at a time (default: one per core)");
  add_value(app, "--at-round", flags.at_round, "R",
            "Compare runs after so many rounds instead of at their best ones");
  add_value(app, "--correlation-round", flags.correlation_round, "N",
            "Rounds before the one that correlations are of (default: 3)");
  add_value(app, "--item", flags.item, "ITEM",
            "Id or title of the hierarchy's item (default: the most frequent one)");
  add_value(app, "--client", flags.client, "K", "Whose helpers the hierarchy shows (default: 0)");
  add_value(app, "--hierarchy-round", flags.hierarchy_round, "R", "In which round (default: 5)");
  add_value(app, "--out", flags.out, "DIR", "Folder of tables and runs (default: reproduction)");
  add_figure_flags(app, flags.figures, "Figures as well, drawn by gnuplot into this folder");
  app.add_flag("--scaled", flags.scales_curves,
               "The figure on sensitivity with each metric scaled to [0, 1] on its own");
  app.add_flag("--json", flags.is_json, "JSON on standard output");
  app.add_flag("--quiet", flags.is_quiet, "Nothing but the tables");
}
}  // namespace

Command add_reproduce(CLI::App& parent) {
  auto flags = std::make_shared<ReproduceFlags>();
  CLI::App* app = parent.add_subcommand("reproduce", "A table or figure of the paper");
  add_reproduce_flags(*app, *flags);
  app->footer(R"(
Tables:  overall, relations, query, scorer, correlation, efficiency; federations
Figures: hierarchy, sensitivity; conflicts
Federations and conflicts are not in the paper: 'all' leaves them out.
Methods run with the settings of configs/tuned/<data>/<method>.toml where there are any.
Runs are kept below DIR and never repeated; each table is written as .md, .csv and .json.
Beside every figure is its gnuplot script, data included.

Examples:
  fedhur reproduce table overall --data ml-100k/u.data --seeds 5
  fedhur reproduce table relations --data ml-100k/u.data --preset paper --row none \
    --row 'hierarchical common' --row 'hierarchical utility' --at-round 8
  fedhur reproduce figure sensitivity --data ml-100k/u.data --pdf figures
  fedhur reproduce figure conflicts --data ml-100k/u.data --seeds 3 --png figures
  fedhur reproduce all --data ml-100k/u.data --data book/split.tsv --minutes 60)");
  return {.app = app, .run = [flags] { return reproduce(*flags); }};
}
}  // namespace fedhur::apps
