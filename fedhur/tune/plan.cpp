#include "fedhur/tune/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fedhur/experiment/prepare_data.hpp"

namespace fedhur::tune {
namespace {
void check_grid(const TunePlan& plan) {
  if (plan.config.search != Search::grid || plan.grid_size) return;
  for (const Dimension& dimension : plan.space) {
    if (!std::holds_alternative<Range>(dimension.values)) continue;
    throw ConfigError(
        fmt::format("{}: {} is a range, which has no grid: list its values, or use --search random",
                    dimension.origin, dimension.key));
  }
}

void check_validation(const std::vector<data::Part>& parts) {
  if (std::find(parts.begin(), parts.end(), data::Part::valid) != parts.end()) return;
  throw ConfigError(
      "tuning chooses by validation, and the split leaves no rows for it: set "
      "split.valid_fraction above 0, or use a split with rows to validate");
}
}  // namespace

std::vector<Rung> plan_rungs(std::size_t num_trials, const HalvingConfig& config,
                             Round max_rounds) {
  expects(config.first_rounds >= 1 && config.factor >= 2, "a rung keeps fewer than it has");
  const auto factor = static_cast<std::size_t>(config.factor);
  std::vector<Rung> rungs;
  Round num_rounds = config.first_rounds;
  while (num_trials > factor && num_rounds < max_rounds) {
    rungs.push_back({.num_trials = num_trials, .num_rounds = num_rounds});
    num_trials /= factor;
    num_rounds = num_rounds > max_rounds / config.factor ? max_rounds : num_rounds * config.factor;
  }
  rungs.push_back({.num_trials = num_trials, .num_rounds = 0});
  return rungs;
}

TunePlan plan_tuning(const TuneConfig& config, ConfigTable settings, SearchSpace space) {
  TunePlan plan;
  plan.config = config;
  plan.space = resolve_space(std::move(space), settings);
  plan.grid_size = grid_size(plan.space);
  check_grid(plan);
  settings = experiment::with_absolute_paths(std::move(settings));
  const experiment::ExperimentConfig experiment = experiment::resolve(settings).config;
  const experiment::PreparedData prepared =
      experiment::prepare_data(experiment.data, experiment.seed);
  for (const auto& [key, value] : prepared.decided) settings.set(key, value, "the data file");
  check_validation(prepared.parts);
  plan.method = experiment.method;
  plan.criterion = experiment.evaluation.criterion;
  plan.data = prepared.dataset.name;
  plan.data_sha256 = prepared.dataset.sha256;
  if (plan.config.seeds.empty()) plan.config.seeds = {experiment.seed};
  plan.points = draw_points(plan.space, settings, config.num_trials,
                            Rng(config.search_seed).stream(Draw::search));
  plan.rungs = {{.num_trials = plan.points.size(), .num_rounds = 0}};
  if (config.search == Search::halving) {
    plan.rungs = plan_rungs(plan.points.size(), config.halving, experiment.stop.max_rounds);
  }
  plan.settings = std::move(settings);
  return plan;
}

std::string describe_search(const TunePlan& plan) {
  const TuneConfig& config = plan.config;
  std::string text =
      fmt::format("search = \"{}\"\nsearch_seed = {}\nseeds = [{}]\n", name_of(config.search),
                  config.search_seed, fmt::join(config.seeds, ", "));
  if (config.search == Search::halving) {
    text += fmt::format("first_rounds = {}\nfactor = {}\n", config.halving.first_rounds,
                        config.halving.factor);
  }
  text += fmt::format("data_sha256 = \"{}\"\n\n{}\n[settings]\n", plan.data_sha256,
                      space_to_toml(plan.space));
  const experiment::ResolvedConfig common = experiment::resolve(plan.settings);
  for (const Setting& entry : common.settings) {
    if (entry.key == "seed" || !experiment::changes_results(entry.key)) continue;
    text += fmt::format("\"{}\" = {}\n", entry.key, to_toml(entry.value));
  }
  return text;
}

std::string config_at(const TunePlan& plan, const Point& point) {
  return experiment::to_toml(
      experiment::resolve(settings_at(plan.settings, plan.space, point)).settings);
}

std::string tuned_at(const TunePlan& plan, const Point& point) {
  std::string text;
  std::string section;
  for (std::size_t i = 0; i < plan.space.size(); ++i) {  // ordered by key, so by section
    const std::string& key = plan.space[i].key;
    const std::size_t dot = key.find('.');
    expects(dot != std::string::npos, "settings of methods are in sections");
    if (key.substr(0, dot) != section) {
      section = key.substr(0, dot);
      text += fmt::format("[{}]\n", section);
    }
    text += fmt::format("{} = {}\n", key.substr(dot + 1), to_toml(point[i]));
  }
  return text;
}
}  // namespace fedhur::tune
