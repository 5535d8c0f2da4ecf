#include "fedhur/methods/fedhur_config.hpp"

#include <algorithm>
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
  settings.add("relation.schedule", config.schedule,
               "`left`: both weights are multiplied by the share of the trace of mean E_k E_k^T "
               "that S_g does not keep, which is what clients do not have in common yet. "
               "`constant`: they are not");
  settings.add("relation.scale", config.scale,
               "`trace`: a client scales its filter S~_k to the trace of S_g, so that relations "
               "change where its weight lies and not how much there is; `none`: as it is");
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

FedHurConfig FedHurConfig::in_round(Round round, double share) const {
  FedHurConfig config = *this;
  const auto factor =
      static_cast<Real>(share * std::pow(static_cast<double>(decay), static_cast<double>(round)));
  for (Real& weight : config.level_weights) weight *= factor;
  config.single_weight *= factor;
  return config;
}

double FedHurConfig::share_left(const FilterRound& trained) const {
  if (!sends_share()) return 1.0;
  return std::clamp(1.0 - trained.filter->trace_kept, 0.0, 1.0);
}
}  // namespace fedhur::methods
