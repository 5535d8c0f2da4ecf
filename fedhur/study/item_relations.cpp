#include "fedhur/study/item_relations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "fedhur/base/nearest_name.hpp"
#include "fedhur/server/personalization.hpp"
#include "fedhur/study/playing.hpp"

namespace fedhur::study {
namespace {
using Json = nlohmann::ordered_json;
constexpr std::size_t kMostItems = 8;
constexpr std::size_t kMostHelpers = 5;

struct Watched {
  nlohmann::json hierarchy;
  std::map<Index, Eigen::VectorXd> weights;  // by scope, of the client
};

std::string name_of_item(const data::Dataset& dataset, Index item) {
  const auto i = static_cast<std::size_t>(item);
  return dataset.item_titles[i].empty() ? dataset.item_names[i] : dataset.item_titles[i];
}

Index find_item(const data::Dataset& dataset, const std::vector<Index>& counts,
                const std::string& wanted) {
  if (wanted.empty()) return std::ranges::max_element(counts) - counts.begin();
  std::vector<std::string> known;
  for (Index item = 0; item < dataset.num_items(); ++item) {
    const auto i = static_cast<std::size_t>(item);
    if (dataset.item_names[i] == wanted || dataset.item_titles[i] == wanted) return item;
    known.push_back(name_of_item(dataset, item));
  }
  throw ConfigError(
      fmt::format("{} has no item '{}'{}", dataset.name, wanted, hint(wanted, known)));
}

Watched watch_round(experiment::Simulation& simulation, Index client, Round round) {
  Watched watched;
  const methods::RoundWatcher watcher = {
      .round = round,
      .show_matrix =
          [&](const std::string& name, ConstMatrixRef matrix) {
            constexpr std::string_view kBegin = "scopes/";
            if (!name.starts_with(kBegin) || !name.ends_with("/aggregation_weights")) return;
            watched.weights[std::stol(name.substr(kBegin.size()))] =
                matrix.row(client).transpose().cast<double>();
          },
      .show_vector = [](const std::string&, ConstVectorRef) {},
      .show_json =
          [&](const std::string& name, const std::string& json) {
            if (name == "hierarchy") watched.hierarchy = nlohmann::json::parse(json);
          }};
  replace_server(simulation, simulation.config, &watcher);
  for (Round r = 0; r <= round; ++r) play(simulation, r);
  return watched;
}

std::vector<Helper> largest(const Eigen::VectorXd& weights) {
  std::vector<Helper> helpers;
  for (Index j = 0; j < weights.size(); ++j) helpers.push_back({j, weights(j)});
  std::ranges::stable_sort(helpers, std::ranges::greater{}, &Helper::weight);
  helpers.resize(std::min(helpers.size(), kMostHelpers));
  return helpers;
}
}  // namespace

ItemRelations find_item_relations(const ConfigTable& table, const std::string& item, Index client,
                                  Round round) {
  experiment::Simulation simulation = simulate(table);
  const auto K = simulation.num_clients();
  if (client < 0 || client >= K) {
    throw ConfigError(
        fmt::format("there is no client {}: they are numbered 0 to {}", client, K - 1));
  }
  const std::vector<Index>& counts = simulation.train_counts;
  const Index wanted = find_item(simulation.dataset, counts, item);
  const Watched watched = watch_round(simulation, client, round - 1);

  ItemRelations relations{.item = name_of_item(simulation.dataset, wanted),
                          .client = client,
                          .num_clients = K,
                          .round = round,
                          .steps = {}};
  for (const auto& scope : watched.hierarchy) {
    for (const auto& member : scope.at("members")) {
      auto items = member.get<std::vector<Index>>();
      if (std::ranges::find(items, wanted) == items.end()) continue;
      const Eigen::VectorXd& weights = watched.weights.at(scope.at("id").get<Index>());
      ItemStep step{.level = scope.at("level").get<Index>(),
                    .num_siblings = static_cast<Index>(scope.at("members").size()),
                    .items = {},
                    .num_items = static_cast<Index>(items.size()),
                    .helpers = largest(weights),
                    .entropy = server::relation_entropy(weights.transpose())};
      std::ranges::stable_sort(items, std::ranges::greater{},
                               [&](Index i) { return counts[static_cast<std::size_t>(i)]; });
      items.resize(std::min(items.size(), kMostItems));
      for (const Index i : items) step.items.push_back(name_of_item(simulation.dataset, i));
      relations.steps.push_back(std::move(step));
    }
  }
  std::ranges::stable_sort(relations.steps, {}, &ItemStep::level);
  return relations;
}

std::string to_markdown(const ItemRelations& relations) {
  std::string text = fmt::format(
      "# hierarchy\n\nThe groups of {} in round {}, from coarse to fine, and who helps client {} "
      "in "
      "each (client: weight; equal weights have entropy 1).\n\n| level | one of | items | the most "
      "frequent | helpers | entropy |\n| --- | --- | --- | --- | --- | --- |\n",
      relations.item, relations.round, relations.client);
  for (const ItemStep& step : relations.steps) {
    std::vector<std::string> helpers;
    for (const Helper& helper : step.helpers) {
      helpers.push_back(fmt::format("{}: {:.3f}", helper.client, helper.weight));
    }
    text += fmt::format("| {} | {} | {} | {} | {} | {:.3f} |\n", step.level + 1, step.num_siblings,
                        step.num_items, fmt::join(step.items, "; "), fmt::join(helpers, ", "),
                        step.entropy);
  }
  return text;
}

std::string to_csv(const ItemRelations& relations) {
  std::string text = "level,siblings,items,entropy,client,weight\n";
  for (const ItemStep& step : relations.steps) {
    for (const Helper& helper : step.helpers) {
      text += fmt::format("{},{},{},{},{},{}\n", step.level + 1, step.num_siblings, step.num_items,
                          step.entropy, helper.client, helper.weight);
    }
  }
  return text;
}

std::string to_json(const ItemRelations& relations) {
  Json json = {{"figure", "hierarchy"},      {"item", relations.item},
               {"client", relations.client}, {"clients", relations.num_clients},
               {"round", relations.round},   {"steps", Json::array()}};
  for (const ItemStep& step : relations.steps) {
    Json helpers = Json::array();
    for (const Helper& helper : step.helpers) {
      helpers.push_back({{"client", helper.client}, {"weight", helper.weight}});
    }
    json["steps"].push_back({{"level", step.level + 1},
                             {"siblings", step.num_siblings},
                             {"num_items", step.num_items},
                             {"items", step.items},
                             {"helpers", std::move(helpers)},
                             {"entropy", step.entropy}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
}  // namespace fedhur::study
