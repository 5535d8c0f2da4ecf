#include "fedhur/tune/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace fedhur::tune {
namespace {
std::vector<const Trial*> scored(const std::vector<Trial>& trials) {
  std::vector<const Trial*> result;
  for (const Trial& trial : trials) {
    if (!trial.scores.empty()) result.push_back(&trial);
  }
  return result;
}

// A value's group: itself, or the half of a range that it is in.
std::vector<std::string> group_names(const std::vector<const Trial*>& trials,
                                     const SearchSpace& space, std::size_t dimension) {
  std::vector<std::string> names;
  if (std::holds_alternative<Choices>(space[dimension].values)) {
    for (const Trial* trial : trials) names.push_back(to_toml(trial->point[dimension]));
    return names;
  }
  std::vector<double> values;
  for (const Trial* trial : trials) values.push_back(number_of(trial->point[dimension]));
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const double middle = sorted[(sorted.size() - 1) / 2];
  for (const double value : values) {
    names.push_back(fmt::format("{} {}", value <= middle ? "up to" : "above", middle));
  }
  return names;
}

Effect find_effect(const std::vector<const Trial*>& trials, const SearchSpace& space,
                   std::size_t dimension) {
  Effect effect{.key = space[dimension].key, .groups = {}};
  const std::vector<std::string> names = group_names(trials, space, dimension);
  std::map<std::string, std::vector<double>> scores;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    scores[names[i]].push_back(trials[i]->scores.front());
  }
  for (const auto& [name, values] : scores) {
    if (values.size() < 2) continue;
    effect.groups.push_back(
        {.value = name, .num_trials = values.size(), .mean = evaluate::spread_of(values).mean});
  }
  std::stable_sort(effect.groups.begin(), effect.groups.end(),
                   [](const auto& a, const auto& b) { return a.mean > b.mean; });
  return effect;
}
}  // namespace

std::vector<Effect> find_effects(const std::vector<Trial>& trials, const SearchSpace& space) {
  std::vector<Effect> effects;
  const std::vector<const Trial*> known = scored(trials);
  for (std::size_t i = 0; i < space.size() && !known.empty(); ++i) {
    Effect effect = find_effect(known, space, i);
    if (effect.groups.size() > 1) effects.push_back(std::move(effect));
  }
  std::stable_sort(effects.begin(), effects.end(),
                   [](const Effect& a, const Effect& b) { return a.size() > b.size(); });
  return effects;
}

std::string describe_largest(const std::vector<Effect>& effects, const std::string& criterion) {
  if (effects.empty()) return {};
  const Effect::Group& best = effects.front().groups.front();
  const Effect::Group& worst = effects.front().groups.back();
  return fmt::format("{} mattered most: mean valid {} is {:.4f} with {} and {:.4f} with {}.",
                     effects.front().key, criterion, best.mean, best.value, worst.mean,
                     worst.value);
}
}  // namespace fedhur::tune
