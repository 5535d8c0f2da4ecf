#include "fedhur/methods/fedhur_config.hpp"

#include <cmath>

#include "fedhur/base/settings.hpp"

namespace fedhur::methods {
void declare_settings(Settings& settings, FedHurConfig& config) {
  declare_settings(settings, config.common);
  settings.add("relation.structure", config.structure,
               "`hierarchical`: item groups from coarse to fine. `single`: one scope of all items, "
               "S~_k = sum_j alpha_kj E_j E_j^T within the global basis");
  settings.add("relation.single_weight", config.single_weight, at_least(0),
               "weight of the residuals of the `single` scope", "beta");
  settings.add("relation.decay", config.decay, above_to(0, 1),
               "factor per round on `single_weight` and `level_weights`");
  declare_settings(settings, config.retrieval);
  declare_settings(settings, config.hierarchy);
  settings.add("hierarchy.level_weights", config.level_weights, at_least(0), Length{},
               "weight of a level's residuals; the last one holds for all finer levels", "beta_l");
  settings.add("hierarchy.coarse", config.coarse,
               "what the coarsest level averages by the weights: filters, as all others do, or "
               "`parameters` (group embeddings), the paper's shortcut for large catalogues");
  declare_settings(settings, config.query);
  declare_settings(settings, config.scorer);
}

FedHurConfig FedHurConfig::in_round(Round round) const {
  FedHurConfig config = *this;
  const auto factor =
      static_cast<Real>(std::pow(static_cast<double>(decay), static_cast<double>(round)));
  for (Real& weight : config.level_weights) weight *= factor;
  config.single_weight *= factor;
  return config;
}
}  // namespace fedhur::methods
