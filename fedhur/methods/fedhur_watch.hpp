// Shows a round of FedHUR to whoever watches it.
#pragma once
#include "fedhur/linalg/relation_filter.hpp"
#include "fedhur/methods/fedhur_config.hpp"
#include "fedhur/methods/round_watcher.hpp"

namespace fedhur::methods {
struct RoundView {
  const FedHurConfig& config;
  const Rng& rng;
  const linalg::ItemHierarchy& hierarchy;
  const std::vector<linalg::RelationFilter>& filters;  // F_g as the clients use them
  const std::vector<Shared<Matrix>>& queries;          // by client, all scopes
  const std::vector<server::Retrieval>& retrievals;    // by scope
  const std::vector<Shared<Matrix>>& residuals;        // by client, packed
};

// A JSON object of the members `common` and of FedHUR's own settings.
[[nodiscard]] std::string describe_config(const FedHurConfig& config, Index num_levels,
                                          const std::string& common);
void show_relations(const RoundWatcher& watcher, const RoundView& view);
}  // namespace fedhur::methods
