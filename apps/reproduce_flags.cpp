#include "apps/reproduce_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "apps/common_flags.hpp"
#include "fedhur/base/nearest_name.hpp"
#include "fedhur/experiment/experiment_config.hpp"

namespace fedhur::apps {
namespace {
// What can be asked for, and the tables that it consists of.
struct Artefact {
  const char* kind;
  const char* name;
  std::vector<std::string> tables;
};
const std::vector<Artefact>& artefacts() {
  static const std::vector<Artefact> kAll = {
      {"table", "overall", {"overall"}},
      {"table", "relations", {"relations"}},
      {"table", "query", {"query"}},
      {"table", "scorer", {"scorer"}},
      {"table", "correlation", {kCorrelation}},
      {"table", "efficiency", {"efficiency"}},
      {"figure", "sensitivity", {"levels", "directions"}},
      {"figure", "hierarchy", {kHierarchy}},
  };
  return kAll;
}
}  // namespace

void add_reproduce_flags(CLI::App& app, ReproduceFlags& flags) {
  app.add_option("kind", flags.kind, "table, figure or all")->type_name("KIND");
  app.add_option("name", flags.name, "Which one")->type_name("NAME");
  app.add_option("--data", flags.data, "Data set; may be repeated (default: built-in data)")
      ->type_name("PATH");
  app.add_option("--seeds", flags.seeds, "How many, or which: 5 or 1,2,3 (default: 5)")
      ->type_name("N");
  app.add_option("--set", flags.assignments, "A setting of all runs; may be repeated")
      ->type_name("KEY=VALUE");
  app.add_option("--rounds", flags.rounds, "At most so many rounds per run")
      ->type_name("N")
      ->check(whole_number_problem);
  app.add_option("--minutes", flags.minutes, "Stop after this time; the same command goes on")
      ->type_name("M");
  app.add_option("--parallel", flags.parallel, "Runs at a time (default: one per core)")
      ->type_name("N")
      ->check(whole_number_problem);
  app.add_option("--at-round", flags.at_round,
                 "Compare runs after so many rounds instead of at their best ones")
      ->type_name("R")
      ->check(whole_number_problem);
  app.add_option("--correlation-round", flags.correlation_round,
                 "Rounds before the one that correlations are of (default: 3)")
      ->type_name("N")
      ->check(whole_number_problem);
  app.add_option("--item", flags.item,
                 "Id or title of the hierarchy's item (default: the most frequent one)")
      ->type_name("ITEM");
  app.add_option("--client", flags.client, "Whose helpers the hierarchy shows (default: 0)")
      ->type_name("K")
      ->check(whole_number_problem);
  app.add_option("--hierarchy-round", flags.hierarchy_round, "In which round (default: 5)")
      ->type_name("R")
      ->check(whole_number_problem);
  app.add_option("--out", flags.out, "Folder of tables and runs (default: reproduction)")
      ->type_name("DIR");
  add_figure_flags(app, flags.figures, "Figures as well, drawn by gnuplot into this folder");
  app.add_flag("--json", flags.is_json, "JSON on standard output");
  app.add_flag("--quiet", flags.is_quiet, "Nothing but the tables");
}

std::vector<std::string> read_tables(const ReproduceFlags& flags) {
  std::vector<std::string> tables;
  std::vector<std::string> names;
  if (flags.kind == "all" && !flags.name.empty()) {
    throw ConfigError(fmt::format("'all' stands alone, without '{}'", flags.name));
  }
  for (const Artefact& artefact : artefacts()) {
    if (flags.kind != "all" && flags.kind != artefact.kind) continue;
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
  if (flags.rounds) {
    config.assignments.push_back(fmt::format("stop.max_rounds={}", *flags.rounds));
  }
  if (flags.parallel < 0 || flags.parallel > 1024) {
    throw ConfigError(
        fmt::format("--parallel {}: expected a number from 0 to 1024", flags.parallel));
  }
  if (flags.at_round && (*flags.at_round < 1 || *flags.at_round > 1'000'000)) {
    throw ConfigError(
        fmt::format("--at-round {}: expected a number from 1 to 1000000", *flags.at_round));
  }
  if (flags.correlation_round < 0 || flags.correlation_round > 10000) {
    throw ConfigError(fmt::format("--correlation-round {}: expected a number from 0 to 10000",
                                  flags.correlation_round));
  }
  if (flags.hierarchy_round < 1 || flags.hierarchy_round > 10000) {
    throw ConfigError(fmt::format("--hierarchy-round {}: expected a number from 1 to 10000",
                                  flags.hierarchy_round));
  }
  config.parallel =
      flags.parallel > 0 ? flags.parallel : std::max<Index>(1, std::thread::hardware_concurrency());
  config.folder = flags.out;
  return config;
}
}  // namespace fedhur::apps
