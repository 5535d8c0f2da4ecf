#include "fedhur/tune/tuning_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fedhur/tune/effects.hpp"

namespace fedhur::tune {
namespace {
using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

template <class... Types>
Json value_to_json(const std::variant<Types...>& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<decltype(held), const std::vector<ConfigScalar>&>) {
          Json list = Json::array();
          for (const ConfigScalar& scalar : held) list.push_back(value_to_json(scalar));
          return list;
        } else {
          return Json(held);
        }
      },
      value);
}

Json settings_to_json(const SearchSpace& space, const Point& point) {
  Json json = Json::object();
  for (std::size_t i = 0; i < space.size(); ++i) json[space[i].key] = value_to_json(point[i]);
  return json;
}

// Mean over seeds of every metric.
Json means(const Trial& trial, report::Metrics TrialRun::*part) {
  Json json = Json::object();
  if (trial.runs.empty()) return json;
  for (const auto& [name, value] : trial.runs.front().*part) {
    json[name] = spread_over(trial, part, name).mean;
  }
  return json;
}

Json trial_to_json(const Trial& trial, const TunePlan& plan) {
  Json json;
  json["trial"] = trial.number;
  json["state"] = name_of(trial.state);
  json["settings"] = settings_to_json(plan.space, trial.point);
  if (!trial.problem.empty()) json["problem"] = trial.problem;
  if (trial.scores.empty()) return json;
  json["criterion"] = plan.criterion;
  json["score"] = trial.scores.back();
  json["deviation"] = spread_over(trial, &TrialRun::valid, plan.criterion).deviation;
  json["rung_scores"] = trial.scores;
  json["valid"] = means(trial, &TrialRun::valid);
  json["test"] = means(trial, &TrialRun::test);
  json["runs"] = Json::array();
  for (const TrialRun& run : trial.runs) {
    json["runs"].push_back({{"seed", run.seed},
                            {"rounds", run.num_rounds},
                            {"best_round", run.best_round},
                            {"valid", run.valid},
                            {"test", run.test},
                            {"seconds", run.seconds}});
  }
  return json;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// "learning_rate" for "train.learning_rate", unless another setting is called the same.
std::string short_name(const SearchSpace& space, std::size_t dimension) {
  const auto last_part = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  const std::string name = last_part(space[dimension].key);
  const auto count = std::count_if(space.begin(), space.end(), [&](const Dimension& other) {
    return last_part(other.key) == name;
  });
  return count == 1 ? name : space[dimension].key;
}

std::vector<std::size_t> differing(const std::vector<Trial>& trials, std::size_t num_dimensions) {
  std::vector<std::size_t> dimensions;
  for (std::size_t i = 0; i < num_dimensions; ++i) {
    const auto differs = [&](const Trial& trial) {
      return trial.point[i] != trials.front().point[i];
    };
    if (std::ranges::any_of(trials, differs)) dimensions.push_back(i);
  }
  return dimensions;
}

Row ranking_row(const Trial& trial, std::size_t rank, const std::vector<std::size_t>& dimensions,
                const TunePlan& plan) {
  Row row = {fmt::format("{}", rank), fmt::format("{}", trial.number)};
  for (const std::size_t i : dimensions) row.push_back(to_toml(trial.point[i]));
  const evaluate::Spread valid = spread_over(trial, &TrialRun::valid, plan.criterion);
  row.push_back(fmt::format("{:.4f}", valid.mean));
  row.push_back(trial.runs.size() > 1 ? fmt::format("{:.4f}", valid.deviation) : "-");
  row.push_back(fmt::format("{:.4f}", spread_over(trial, &TrialRun::test, plan.criterion).mean));
  std::vector<std::string> rounds;
  for (const TrialRun& run : trial.runs) rounds.push_back(fmt::format("{}", run.num_rounds));
  row.push_back(fmt::format("{}", fmt::join(rounds, ", ")));
  row.push_back(fmt::format("{:.1f}", seconds_of(trial)));
  return row;
}

std::string markdown_table(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format("| {} |\n", fmt::join(row, " | "));
    if (&row == &rows.front()) {
      for (std::size_t i = 0; i < row.size(); ++i) text += "| --- ";
      text += "|\n";
    }
  }
  return text;
}

std::string failures_to_markdown(const std::vector<Trial>& trials, const SearchSpace& space) {
  std::string text;
  for (const Trial& trial : trials) {
    if (trial.state != TrialState::failed) continue;
    text += fmt::format("- {} `{}`: {}\n", trial.number, dump(settings_to_json(space, trial.point)),
                        trial.problem);
  }
  return text.empty() ? text : "\n## Failed trials\n\n" + text;
}

std::string effects_to_markdown(const std::vector<Trial>& trials, const TunePlan& plan) {
  const std::vector<Effect> effects = find_effects(trials, plan.space);
  if (effects.empty()) return {};
  std::string text = fmt::format(
      "\n## Which settings mattered\n\n{} Means are over few trials: hints, no proofs.\n\n",
      describe_largest(effects, plan.criterion));
  std::vector<Row> rows = {
      {"setting", fmt::format("mean valid {} by value (trials)", plan.criterion)}};
  for (const Effect& effect : effects) {
    std::vector<std::string> parts;
    for (const Effect::Group& group : effect.groups) {
      parts.push_back(fmt::format("{}: {:.4f} ({})", group.value, group.mean, group.num_trials));
    }
    rows.push_back({fmt::format("`{}`", effect.key), fmt::format("{}", fmt::join(parts, ", "))});
  }
  return text + markdown_table(rows);
}
}  // namespace

std::string to_json(const Trial& trial, const TunePlan& plan) {
  return dump(trial_to_json(trial, plan));
}

std::string to_json(const std::vector<Trial>& trials, const TunePlan& plan,
                    const std::string& folder) {
  Json json;
  json["method"] = plan.method;
  json["data"] = plan.data;
  json["search"] = name_of(plan.config.search);
  json["search_seed"] = plan.config.search_seed;
  json["seeds"] = plan.config.seeds;
  json["criterion"] = plan.criterion;
  json["trials"] = trials.size();
  for (const TrialState state : {TrialState::finished, TrialState::dropped, TrialState::failed}) {
    json[name_of(state)] = count_trials(trials, state);
  }
  const std::vector<std::size_t> order = rank_trials(trials);
  json["best"] = order.empty() ? Json() : trial_to_json(trials[order.front()], plan);
  json["out"] = folder;
  return dump(json);
}

std::vector<Row> ranking_table(const std::vector<Trial>& trials, const TunePlan& plan) {
  const std::vector<std::size_t> dimensions = differing(trials, plan.space.size());
  std::vector<Row> rows = {{"rank", "trial"}};
  for (const std::size_t i : dimensions) rows[0].push_back(short_name(plan.space, i));
  rows[0].insert(rows[0].end(),
                 {"valid " + plan.criterion, "sd", "test " + plan.criterion, "rounds", "seconds"});
  for (const std::size_t index : rank_trials(trials)) {
    rows.push_back(ranking_row(trials[index], rows.size(), dimensions, plan));
  }
  return rows;
}

std::string to_markdown(const std::vector<Trial>& trials, const TunePlan& plan) {
  std::string text = fmt::format("# Search for settings of {} on {}\n\n", plan.method, plan.data);
  text += fmt::format(
      "{} search, {} trials, seeds {}. Trials are ranked by mean validation {} at the best round; "
      "test metrics are shown and choose nothing.\n\n",
      name_of(plan.config.search), trials.size(), fmt::join(plan.config.seeds, ", "),
      plan.criterion);
  text += markdown_table(ranking_table(trials, plan));
  return text + effects_to_markdown(trials, plan) + failures_to_markdown(trials, plan.space);
}
}  // namespace fedhur::tune
