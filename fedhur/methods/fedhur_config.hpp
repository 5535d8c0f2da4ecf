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

enum class FilterScale : std::uint8_t {
  none,   // S~_k as the residuals make it
  trace,  // with the trace of S_g
};
constexpr auto names_of(FilterScale) { return std::array{"none", "trace"}; }

// How the weights of the residuals go on from round to round, besides `decay`.
enum class RelationSchedule : std::uint8_t {
  constant,
  left,  // times the share of the clients' filters that S_g does not keep
};
constexpr auto names_of(RelationSchedule) { return std::array{"constant", "left"}; }

struct FedHurConfig {
  FilterMethodConfig common;
  Structure structure = Structure::hierarchical;
  server::ItemHierarchyConfig hierarchy;
  std::vector<Real> level_weights = {0.3F};  // beta_l
  Real single_weight = 1.0F;                 // beta
  Real decay = 1.0F;
  RelationSchedule schedule = RelationSchedule::constant;
  FilterScale scale = FilterScale::none;
  server::Coarse coarse = server::Coarse::filters;
  client::QueryConfig query;
  server::RetrievalConfig retrieval;
  server::ScorerConfig scorer;

  // With the weights as they are in this round; `share` is what its schedule leaves of them.
  [[nodiscard]] FedHurConfig in_round(Round round, double share) const;
  [[nodiscard]] double share_left(const FilterRound& trained) const;
  [[nodiscard]] bool sends_share() const {
    return has_relations() && schedule != RelationSchedule::constant;
  }
  [[nodiscard]] bool asks_queries() const { return server::asks_queries(retrieval.relation); }
  [[nodiscard]] bool has_relations() const { return retrieval.relation != server::Relation::none; }
};
void declare_settings(Settings& settings, FedHurConfig& config);
}  // namespace fedhur::methods
