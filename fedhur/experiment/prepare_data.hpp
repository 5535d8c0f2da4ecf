// From data settings to what each client holds.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "fedhur/data/client_data.hpp"
#include "fedhur/experiment/experiment_config.hpp"

namespace fedhur::experiment {
// Settings that were not given and that the data file decides.
using Decisions = std::vector<std::pair<std::string, ConfigValue>>;

struct PreparedData {
  data::Dataset dataset;               // loaded and filtered
  std::vector<data::Part> parts;       // one per interaction
  std::vector<ClientId> user_clients;  // one per user
  data::Conflicts conflicts = {};      // already in the rows
  Decisions decided = {};
};

// Loads (or makes) and filters the data set; no split yet.
[[nodiscard]] data::Dataset load_dataset(const DataConfig& config);
// The whole way. Where the file itself says parts and clients and the settings do not, the file's
// are taken.
[[nodiscard]] PreparedData prepare_data(DataConfig config, std::uint64_t seed);
}  // namespace fedhur::experiment
