// All settings of FedHUR that FedCIA does not have.
#pragma once
#include "fedhur/client/utility_query.hpp"
#include "fedhur/methods/filter_round.hpp"
#include "fedhur/server/item_groups.hpp"
#include "fedhur/server/personalization.hpp"

namespace fedhur::methods {
enum class Structure : std::uint8_t {
  single,        // one scope whose members are all items
  hierarchical,  // item groups from coarse to fine
};
constexpr auto names_of(Structure) { return std::array{"single", "hierarchical"}; }

struct FedHurConfig {
  FilterMethodConfig common;
  Structure structure = Structure::hierarchical;
  server::ItemHierarchyConfig hierarchy;
  std::vector<Real> level_weights = {0.3F};  // beta_l
  Real single_weight = 1.0F;                 // beta
  Real decay = 1.0F;
  server::Coarse coarse = server::Coarse::filters;
  client::QueryConfig query;
  server::RetrievalConfig retrieval;
  server::ScorerConfig scorer;

  // With the weights as they are in this round.
  [[nodiscard]] FedHurConfig in_round(Round round) const;
  [[nodiscard]] bool asks_queries() const { return server::asks_queries(retrieval.relation); }
  [[nodiscard]] bool has_relations() const { return retrieval.relation != server::Relation::none; }
};
void declare_settings(Settings& settings, FedHurConfig& config);
}  // namespace fedhur::methods
