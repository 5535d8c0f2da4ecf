#include "fedhur/study/item_relations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "fedhur/base/nearest_name.hpp"
#include "fedhur/methods/fedhur_round.hpp"
#include "fedhur/study/playing.hpp"

namespace fedhur::study {
namespace {
using Json = nlohmann::ordered_json;
constexpr std::size_t kMostItems = 8;
constexpr std::size_t kMostHelpers = 5;

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

std::vector<Helper> largest(const Eigen::VectorXd& weights) {
  std::vector<Helper> helpers;
  for (Index j = 0; j < weights.size(); ++j) helpers.push_back({j, weights(j)});
  std::ranges::stable_sort(helpers, std::ranges::greater{}, &Helper::weight);
  helpers.resize(std::min(helpers.size(), kMostHelpers));
  return helpers;
}

// The way down to an item, as the round saw it.
std::vector<ItemStep> find_steps(const methods::FedHurRound& now, Index wanted, Index client,
                                 const experiment::Simulation& simulation) {
  std::vector<ItemStep> steps;
  const std::vector<Index>& counts = simulation.train_counts;
  for (std::size_t s = 0; s < now.groups.hierarchy->scopes.size(); ++s) {
    const linalg::Scope& scope = now.groups.hierarchy->scopes[s];
    for (Index b = 0; b < scope.num_members(); ++b) {
      const auto members = scope.member_items(b);
      if (std::ranges::find(members, wanted) == members.end()) continue;
      const Eigen::RowVectorXd weights = now.personal.retrievals[s].aggregation_weights.row(client);
      ItemStep step{.level = scope.level,
                    .num_siblings = scope.num_members(),
                    .items = {},
                    .num_items = std::ssize(members),
                    .helpers = largest(weights.transpose()),
                    .entropy = server::relation_entropy(weights)};
      std::vector<Index> items(members.begin(), members.end());
      std::ranges::stable_sort(items, std::ranges::greater{},
                               [&](Index i) { return counts[static_cast<std::size_t>(i)]; });
      items.resize(std::min(items.size(), kMostItems));
      for (const Index i : items) step.items.push_back(name_of_item(simulation.dataset, i));
      steps.push_back(std::move(step));
    }
  }
  return steps;
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
  const Index wanted = find_item(simulation.dataset, simulation.train_counts, item);
  ItemRelations relations{.item = name_of_item(simulation.dataset, wanted),
                          .client = client,
                          .num_clients = K,
                          .round = round,
                          .steps = {}};
  const methods::RoundWatcher watcher = {
      .round = round - 1, .show = [&](const methods::FedHurRound& now) {
        if (!now.personal.retrievals.empty()) {
          relations.steps = find_steps(now, wanted, client, simulation);
        }
      }};
  replace_server(simulation, simulation.config, &watcher);
  for (Round r = 0; r < round; ++r) play(simulation, r);
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
