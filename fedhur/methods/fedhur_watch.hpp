// Shows a round of FedHUR to whoever watches it, and its outline to the report.
#pragma once
#include "fedhur/federation/server_method.hpp"
#include "fedhur/linalg/relation_filter.hpp"
#include "fedhur/methods/fedhur_config.hpp"
#include "fedhur/methods/round_watcher.hpp"
#include "fedhur/server/relation_summary.hpp"

namespace fedhur::methods {
struct RoundView {
  const FedHurConfig& config;
  const Rng& rng;
  const linalg::ItemHierarchy& hierarchy;
  const std::vector<linalg::RelationFilter>& filters;  // F_g as the clients use them
  const std::vector<ClientId>& targets;
  const std::vector<Shared<Matrix>>& queries;        // by target, all scopes
  const std::vector<server::Retrieval>& retrievals;  // by scope
  const std::vector<Shared<Matrix>>& residuals;      // by target, packed
};

// A JSON object of the members `common` and of FedHUR's own settings.
[[nodiscard]] std::string describe_config(const FedHurConfig& config, Index num_levels,
                                          const std::string& common);
void show_relations(const RoundWatcher& watcher, const RoundView& view);

// Item groups, and who helps whom at each of their levels; a summary per scope, without blocks
// where not all clients took part.
void note_relations(const linalg::ItemHierarchy& hierarchy,
                    const std::vector<server::WeightSummary>& summaries,
                    federation::RoundNotes& notes);
}  // namespace fedhur::methods
