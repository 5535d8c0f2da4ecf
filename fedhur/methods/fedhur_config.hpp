// All settings of FedHUR that FedCIA does not have.
#pragma once
#include "fedhur/client/utility_query.hpp"
#include "fedhur/methods/filter_round.hpp"
#include "fedhur/server/item_groups.hpp"
#include "fedhur/server/retrieval.hpp"

namespace fedhur::methods {
enum class Structure : std::uint8_t {
  single,        // one scope whose members are all items
  hierarchical,  // item groups from coarse to fine
};
enum class Coarse : std::uint8_t {
  filters,     // the coarsest level mixes filters, as all others do
  parameters,  // it averages parameters by the weights: the paper's shortcut for large catalogues
};

struct FedHurConfig {
  FilterMethodConfig common;
  Structure structure = Structure::hierarchical;
  server::ItemHierarchyConfig hierarchy;
  std::vector<Real> level_weights = {0.3F};  // beta; the last holds for all finer levels. Unused by
                                             // Structure::single
  Real single_weight = 1.0F;                 // beta of Structure::single
  Real decay = 1.0F;                         // factor per round on all these weights
  Coarse coarse = Coarse::filters;
  client::QueryConfig query;
  server::RetrievalConfig retrieval;
  server::ScorerConfig scorer;

  // With the weights as they are in this round.
  [[nodiscard]] FedHurConfig in_round(Round round) const;
  [[nodiscard]] bool asks_queries() const {
    return retrieval.relation == server::Relation::utility;
  }
  [[nodiscard]] bool has_relations() const { return retrieval.relation != server::Relation::none; }
};
void read_settings(ConfigTable& table, FedHurConfig& config);
}  // namespace fedhur::methods

template <>
struct fedhur::EnumNames<fedhur::methods::Structure> {
  using enum fedhur::methods::Structure;
  static constexpr std::array<std::pair<std::string_view, methods::Structure>, 2> names = {
      {{"single", single}, {"hierarchical", hierarchical}}};
};
template <>
struct fedhur::EnumNames<fedhur::methods::Coarse> {
  using enum fedhur::methods::Coarse;
  static constexpr std::array<std::pair<std::string_view, methods::Coarse>, 2> names = {
      {{"filters", filters}, {"parameters", parameters}}};
};
