// A built-in data set with real structure, so that everything can be tried without a download.
#pragma once
#include <cstdint>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/data/interactions.hpp"

namespace fedhur::data {
struct SyntheticConfig {
  Index num_users = 600;
  Index num_items = 800;
  Index num_interactions = 30000;
  Index num_groups = 12;
  double popularity_exponent = 0.8;
  double affinity = 0.9;
};

void declare_settings(Settings& settings, SyntheticConfig& config);

// Deterministic in config and rng. Titles tell the item's group, so that recommendations can be
// judged by eye. Users have uneven activity; neighbours in the user order share no taste.
// Ratings are higher within liked groups, timestamps count a user's rows. An item may have no row.
[[nodiscard]] Dataset make_synthetic(const SyntheticConfig& config, const Rng& rng);
}  // namespace fedhur::data
