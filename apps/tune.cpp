// fedhur tune: searches a method's settings on the validation split.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/command.hpp"
#include "apps/common_flags.hpp"
#include "apps/interrupt.hpp"
#include "apps/output.hpp"
#include "fedhur/base/memory.hpp"
#include "fedhur/base/nearest_name.hpp"
#include "fedhur/base/strings.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/party.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/tune/effects.hpp"
#include "fedhur/tune/tuning.hpp"
#include "fedhur/tune/tuning_report.hpp"

namespace fedhur::apps {
namespace {
using Json = nlohmann::ordered_json;
using tune::TuneOutcome;
using tune::TunePlan;
using tune::TuningFolder;

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

std::string format_rungs(const std::vector<tune::Rung>& rungs) {
  std::vector<std::string> parts;
  for (const tune::Rung& rung : rungs) {
    parts.push_back(rung.num_rounds == 0
                        ? fmt::format("{} to the end", rung.num_trials)
                        : fmt::format("{} for {} rounds", rung.num_trials, rung.num_rounds));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string trials_text(std::size_t count) {
  return fmt::format("{} trial{}", count, count == 1 ? "" : "s");
}

std::string format_score(const tune::Trial& trial, const std::string& criterion) {
  const evaluate::Spread valid = tune::spread_over(trial, &tune::TrialRun::valid, criterion);
  return trial.runs.size() > 1 ? fmt::format("{:.4f} +- {:.4f}", valid.mean, valid.deviation)
                               : fmt::format("{:.4f}", valid.mean);
}
// What is about to happen: budget, space, seeds.
std::string format_plan(const tune::TunePlan& plan) {
  const tune::TuneConfig& config = plan.config;
  std::string text = fmt::format(
      "{} on {}: {} search, {}, seeds {}, {} at a time, by validation {}\n", plan.method,
      printable(plan.data), name_of(config.search), trials_text(plan.points.size()),
      fmt::join(config.seeds, ", "), config.parallel, plan.criterion);
  if (plan.grid_size && *plan.grid_size > plan.points.size()) {
    text += fmt::format("the space has {} points: {} of them are drawn, none twice\n",
                        *plan.grid_size, plan.points.size());
  } else if (plan.points.size() < config.num_trials) {
    text += fmt::format("the space has no more than {} points\n", plan.points.size());
  }
  if (plan.rungs.size() > 1) text += fmt::format("trials: {}\n", format_rungs(plan.rungs));
  return text;
}

// A line per trial: its score, the best so far, the time left.
std::string format_trial(const tune::Trial& trial, const tune::RungProgress& progress,
                         const tune::TunePlan& plan) {
  std::string text = fmt::format("{} {:>3}/{}  trial {:>3}  ", plan.method, progress.num_ended,
                                 progress.num_trials, trial.number);
  if (plan.rungs.size() > 1) {
    text += fmt::format("rung {}/{}  ", progress.rung + 1, plan.rungs.size());
  }
  if (trial.state == tune::TrialState::failed) {
    text += "failed: " + printable(trial.problem);
  } else {
    text += fmt::format("valid {} {}", plan.criterion, format_score(trial, plan.criterion));
  }
  if (progress.best) {
    text += fmt::format("  best {:.4f} (trial {})", progress.best_score, *progress.best);
  }
  if (progress.seconds_left && progress.num_ended < progress.num_trials) {
    text += fmt::format("  about {} left", format_clock(*progress.seconds_left));
    if (progress.rung + 1 < plan.rungs.size()) text += " in this rung";
  }
  return text + "\n";
}

// The best trials as a table, which settings mattered, and where to find everything.
std::string format_outcome(const tune::TuneOutcome& outcome, const tune::TunePlan& plan,
                           const tune::TuningFolder& folder) {
  constexpr std::size_t kMostRows = 10;
  auto rows = tune::ranking_table(outcome.trials, plan);
  const std::size_t num_ranked = rows.size() - 1;
  if (num_ranked > kMostRows) rows.resize(kMostRows + 1);
  std::string text =
      fmt::format("{} on {}: {} search, {}, seeds {}\n\n", plan.method, printable(plan.data),
                  name_of(plan.config.search), trials_text(outcome.trials.size()),
                  fmt::join(plan.config.seeds, ", "));
  text += format_table(rows, {}) + "\n";
  if (num_ranked > kMostRows) {
    text += fmt::format("the best {} of {}; all are in {}\n", kMostRows, num_ranked,
                        shell_quoted(folder.summary()));
  }
  const std::size_t num_failed = tune::count_trials(outcome.trials, tune::TrialState::failed);
  if (num_failed > 0) {
    text += fmt::format("{} of {} trials failed; {} tells why\n", num_failed, outcome.trials.size(),
                        shell_quoted(folder.trials()));
  }
  const std::string effect =
      tune::describe_largest(tune::find_effects(outcome.trials, plan.space), plan.criterion);
  if (!effect.empty()) text += effect + "\n";
  return text + fmt::format("to train with the best: fedhur train --config {}\n",
                            shell_quoted(folder.best()));
}

// The best trial of a method, as a row of the table below.
std::vector<std::string> format_best(const tune::TuneOutcome& outcome, const tune::TunePlan& plan) {
  const tune::Trial& best = outcome.trials[tune::rank_trials(outcome.trials).front()];
  double seconds = 0.0;
  for (const tune::Trial& trial : outcome.trials) seconds += tune::seconds_of(trial);
  return {
      plan.method,
      fmt::format("{}", outcome.trials.size()),
      fmt::format("{}", best.number),
      fmt::format("{} {}", plan.criterion, format_score(best, plan.criterion)),
      fmt::format("{:.4f}", tune::spread_over(best, &tune::TrialRun::test, plan.criterion).mean),
      fmt::format("{:.1f}", seconds)};
}

// The best of several methods side by side.
std::string format_methods(std::vector<std::vector<std::string>> rows) {
  rows.insert(rows.begin(), {"method", "trials", "best", "valid", "test", "seconds of all"});
  return format_table(rows, {Align::left});
}
void inform(const TuneFlags& flags, const std::string& text) {
  if (!flags.is_quiet) say(text);
}

// What --set has settled is not searched.
tune::SearchSpace without_fixed(tune::SearchSpace space, const TuneFlags& flags) {
  std::erase_if(space, [&](const tune::Dimension& dimension) {
    const bool is_fixed = std::ranges::any_of(flags.settings.assignments, [&](const auto& text) {
      return text.starts_with(dimension.key + "=");
    });
    if (is_fixed) inform(flags, fmt::format("{} is not searched: --set has it\n", dimension.key));
    return is_fixed;
  });
  return space;
}

std::set<std::string> keys_of(const std::string& method) {
  ConfigTable table;
  if (!method.empty()) table.set("method", method, "--method");
  const experiment::ResolvedConfig resolved = experiment::resolve(table);
  std::set<std::string> keys;
  for (const Setting& setting : resolved.settings) keys.insert(setting.key);
  return keys;
}

tune::Search read_search(const std::string& text) {
  if (const auto search = value_named<tune::Search>(text)) return *search;
  const auto names = names_of(tune::Search{});
  const std::vector<std::string> known(names.begin(), names.end());
  throw ConfigError(fmt::format("--search {}: expected one of {}{}", text, fmt::join(known, ", "),
                                hint(text, known)));
}

// The names in --method; a single empty one leaves the choice to the configuration.
std::vector<std::string> read_methods(const TuneFlags& flags) {
  const std::string& text = flags.settings.method;
  std::vector<std::string> names;
  if (text == "all") {
    for (const auto& method : methods::all_methods()) names.push_back(method.name);
    return names;
  }
  for (const std::string_view part : split_at(text, ',')) {
    const std::string name(part);
    if (!text.empty()) (void)methods::find_method(name);
    if (std::ranges::find(names, name) != names.end()) {
      throw ConfigError(fmt::format("--method names {} twice", name));
    }
    names.push_back(name);
  }
  return names;
}

// Of several methods, not all know what --set says about one of them.
std::vector<std::string> assignments_of(const TuneFlags& flags, const std::string& method) {
  std::vector<std::string> assignments = flags.settings.assignments;
  const std::set<std::string> own = keys_of(method);
  std::set<std::string> all;
  for (const std::string& other : read_methods(flags)) all.merge(keys_of(other));
  std::erase_if(assignments, [&](const std::string& assignment) {
    const std::string key = assignment.substr(0, assignment.find('='));
    return all.contains(key) && !own.contains(key);
  });
  return assignments;
}

// ConfigError that names the flag, its value and what was expected.
tune::TuneConfig read_tune_config(const TuneFlags& flags) {
  tune::TuneConfig config;
  config.search = read_search(flags.search);
  if (!flags.seeds.empty()) config.seeds = parse_seeds(flags.seeds);
  if (flags.num_trials) {
    check_range("--trials", *flags.num_trials, 1, 100'000);
    config.num_trials = static_cast<std::size_t>(*flags.num_trials);
  } else if (flags.minutes && config.search != tune::Search::halving) {
    config.num_trials = 1000;  // the minutes are the budget
  }
  if (flags.minutes) config.max_seconds = seconds_of(*flags.minutes);
  check_range("--search-seed", flags.search_seed, 0);
  config.search_seed = static_cast<std::uint64_t>(flags.search_seed);
  config.halving = flags.halving;
  check_range("--first-rounds", config.halving.first_rounds, 1);
  check_range("--factor", config.halving.factor, 2);
  const std::int64_t threads = flags.settings.threads.value_or(0);
  check_range("--threads", threads, 0, 1024);
  if (flags.parallel) check_range("--parallel", *flags.parallel, 1, 1024);
  config.parallel = flags.parallel ? *flags.parallel : experiment::num_threads(threads);
  return config;
}

TunePlan make_plan(const TuneFlags& flags, const std::string& method) {
  SettingFlags settings = flags.settings;
  settings.method = method;
  settings.assignments = assignments_of(flags, method);
  ConfigTable table = settings.to_table();
  if (!flags.criterion.empty()) table.set("evaluate.criterion", flags.criterion, "--criterion");
  const std::string name = experiment::resolve(table).config.method;
  tune::SearchSpace space =
      flags.space.empty()
          ? tune::read_space(tune::built_in_space(name), fmt::format("the space of {}", name))
          : tune::read_space_file(flags.space);
  return tune::plan_tuning(read_tune_config(flags), std::move(table),
                           without_fixed(std::move(space), flags));
}

TuningFolder open_folder(const TuneFlags& flags, const TunePlan& plan, bool is_alone) {
  const std::string search = tune::describe_search(plan);
  if (flags.out.empty()) return TuningFolder::open_numbered("tunings", plan.method, search);
  const std::filesystem::path out = flags.out;
  return TuningFolder::open(is_alone ? out : out / plan.method, search);
}

TuneOutcome watch(const TuneFlags& flags, const TunePlan& plan, const TuningFolder& folder) {
  tune::TuneHooks hooks;
  hooks.on_trial = [&](const tune::Trial& trial, const tune::RungProgress& progress) {
    inform(flags, format_trial(trial, progress, plan));
  };
  hooks.should_stop = was_interrupted;
  return tune::run_tuning(plan, folder, hooks);
}

// Why there is nothing to choose from; empty if there is.
std::string describe_failure(const TuneOutcome& outcome, const TunePlan& plan) {
  if (!tune::rank_trials(outcome.trials).empty()) return {};
  const auto failed =
      std::ranges::find(outcome.trials, tune::TrialState::failed, &tune::Trial::state);
  if (failed != outcome.trials.end()) {
    return fmt::format("all trials of {} failed; the first: {}", plan.method, failed->problem);
  }
  return fmt::format("no trial of {} came to an end in time; the same command goes on with them",
                     plan.method);
}

// What the methods have come to.
struct Findings {
  Json tunings = Json::array();
  std::vector<std::vector<std::string>> best;
  std::vector<std::string> failures;
};

// False if it was interrupted.
bool tune_method(const TuneFlags& flags, const TunePlan& plan, const TuningFolder& folder,
                 Findings& findings) {
  inform(flags, format_plan(plan) + fmt::format("in {}\n", folder.path().string()));
  const TuneOutcome outcome = watch(flags, plan, folder);
  if (outcome.was_interrupted) {
    say(fmt::format("fedhur: stopped; the same command goes on in {}\n",
                    shell_quoted(folder.path())));
    return false;
  }
  if (const std::string failure = describe_failure(outcome, plan); !failure.empty()) {
    findings.failures.push_back(failure);
    return true;
  }
  if (outcome.is_out_of_time) {
    inform(flags, "the time is up; the same command goes on with the trials that are missing\n");
  }
  findings.tunings.push_back(
      Json::parse(tune::to_json(outcome.trials, plan, folder.path().string())));
  findings.best.push_back(format_best(outcome, plan));
  const char* const gap = findings.best.size() > 1 ? "\n" : "";
  if (!flags.is_json) print(gap + format_outcome(outcome, plan, folder));
  return true;
}

int show_spaces(const std::vector<std::string>& methods) {
  for (const std::string& method : methods) {
    print(tune::built_in_space(method.empty() ? experiment::ExperimentConfig().method : method));
  }
  return ExitCode::done;
}

int tune_methods(const TuneFlags& flags) {
  const std::vector<std::string> methods = read_methods(flags);
  if (flags.shows_space) return show_spaces(methods);
  std::vector<TunePlan> plans;  // mistakes come to light before the first training
  for (const std::string& method : methods) plans.push_back(make_plan(flags, method));
  std::vector<TuningFolder> folders;
  for (const TunePlan& plan : plans) folders.push_back(open_folder(flags, plan, plans.size() == 1));
  keep_freed_memory();
  note_interrupts();
  Findings findings;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!tune_method(flags, plans[i], folders[i], findings)) return ExitCode::interrupted;
  }
  if (flags.is_json) {
    print_json({{"tunings", findings.tunings}});
  } else if (findings.best.size() > 1) {
    print("\n" + format_methods(std::move(findings.best)));
  }
  if (!findings.failures.empty()) {
    throw Error(fmt::format("{}", fmt::join(findings.failures, "; ")));
  }
  return ExitCode::done;
}

constexpr const char* kFooter = R"(
Searches on the validation split; test metrics are recorded and choose nothing. The same command
goes on where it was stopped, and --trials or --minutes may be larger then. Spaces are TOML files:
  [space]
  "train.learning_rate" = [0.1, 0.03, 0.01]
  "train.weight_decay" = {low = 1e-6, high = 1e-2, scale = "log"}

Examples:
  fedhur tune --data ml-100k/u.data --method fedmf --trials 20
  fedhur tune --data ml-100k/u.data --method all --search halving --trials 27 --seeds 3
  fedhur tune --method fedhur --show-space > mine.toml
  fedhur tune --method fedhur --space mine.toml --minutes 30 --criterion ndcg@10
  fedhur train --config tunings/fedmf-0001/best.toml)";

void add_tune_flags(CLI::App& app, TuneFlags& flags) {
  add_train_flags(app, flags.settings);
  app.get_option("--method")->description("One, several as fedmf,fedcia, or all (fedhur)");
  add_setting_flags(app, flags.settings);
  add_value(app, "--search", flags.search, "KIND", "grid, random or halving (random)");
  add_value(app, "--space", flags.space, "FILE",
            "What to search (default: the method's own space)");
  add_value(app, "--trials", flags.num_trials, "N",
            "Trials per method (30, or as many as --minutes allow)");
  add_value(app, "--minutes", flags.minutes, "M", "Stop after so many minutes per method");
  add_value(app, "--seeds", flags.seeds, "SEEDS",
            "Seeds of every trial: how many, or which as 1,2,3 (the one of --seed)");
  add_value(app, "--search-seed", flags.search_seed, "N", "Seed of the draw of trials (1)");
  add_value(app, "--criterion", flags.criterion, "NAME", "Validation metric to choose by (f1@10)");
  add_value(app, "--first-rounds", flags.halving.first_rounds, "R",
            "halving: rounds that every trial gets (5)");
  add_value(app, "--factor", flags.halving.factor, "N",
            "halving: one in so many goes on, for so many times the rounds (3)");
  add_value(app, "--parallel", flags.parallel, "N", "Runs at a time (--threads, or one per core)");
  add_value(app, "--out", flags.out, "DIR",
            "Folder of the search (default: tunings/<method>-<number>)");
  app.add_flag("--show-space", flags.shows_space, "Print the method's own space and leave");
  app.add_flag("--json", flags.is_json, "One JSON object on standard output");
  app.add_flag("--quiet", flags.is_quiet, "Nothing but the result");
}
}  // namespace

Command add_tune(CLI::App& parent) {
  auto flags = std::make_shared<TuneFlags>();
  CLI::App* app = parent.add_subcommand("tune", "Search a method's settings by validation");
  add_tune_flags(*app, *flags);
  app->footer(kFooter);
  return {.app = app, .run = [flags] { return tune_methods(*flags); }};
}
}  // namespace fedhur::apps
