// Everything that takes part in a simulated run.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/base/parallel.hpp"
#include "fedhur/experiment/checkpoint.hpp"
#include "fedhur/experiment/prepare_data.hpp"
#include "fedhur/experiment/round_dump.hpp"

namespace fedhur::experiment {
// 0 means one per core.
[[nodiscard]] Index num_threads(Index wanted);

struct Simulation {
  ExperimentConfig config;
  std::optional<DumpConfig> dump;
  std::optional<methods::RoundWatcher> watcher;  // if there is a dump
  data::Dataset dataset;
  std::vector<Index> train_counts;  // training rows of every item, over all clients
  Executor executor;
  Clients clients;
  std::unique_ptr<federation::ServerMethod> server;

  Simulation(ExperimentConfig experiment_config, PreparedData prepared,
             const std::optional<DumpConfig>& dump_config);
  [[nodiscard]] std::vector<federation::ClientMethod*> client_methods() const;
};

// Loads and divides the data; the table notes what was decided on the way.
[[nodiscard]] Simulation make_simulation(ConfigTable& table, ExperimentConfig config,
                                         const std::optional<DumpConfig>& dump);
[[nodiscard]] std::string describe(const Simulation& simulation);  // one line, for people
}  // namespace fedhur::experiment
