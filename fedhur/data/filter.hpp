// Fewer, better rows: a rating threshold and a k-core.
#pragma once
#include "fedhur/base/config_table.hpp"
#include "fedhur/data/interactions.hpp"

namespace fedhur::data {
struct FilterConfig {
  double min_rating = 0.0;  // 0 keeps all
  Index min_user_interactions = 1;
  Index min_item_interactions = 1;
};

void declare_settings(Settings& settings, FilterConfig& config);

// What is left keeps its order and is numbered anew without gaps. DataError if nothing is left,
// ConfigError for a rating threshold on data without ratings. Clients that lose all their users go
// too.
[[nodiscard]] Dataset filter(Dataset dataset, const FilterConfig& config);
}  // namespace fedhur::data
