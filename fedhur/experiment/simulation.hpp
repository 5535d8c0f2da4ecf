// Everything that takes part in a simulated run.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/experiment/party.hpp"
#include "fedhur/experiment/prepare_data.hpp"
#include "fedhur/experiment/round_dump.hpp"
#include "fedhur/transport/in_process/in_process_federation.hpp"

namespace fedhur::experiment {
struct Simulation {
  ExperimentConfig config;
  std::optional<DumpConfig> dump;
  std::optional<methods::RoundWatcher> watcher;  // if there is a dump
  Decisions decided;                             // by the data
  data::Dataset dataset;
  std::vector<Index> train_counts;  // training rows of every item, over all clients
  Executor executor;
  Party party;
  std::unique_ptr<federation::ServerMethod> server;

  Simulation(ExperimentConfig experiment_config, PreparedData prepared,
             const std::optional<DumpConfig>& dump_config);
  [[nodiscard]] Index num_clients() const { return static_cast<Index>(party.size()); }
  [[nodiscard]] transport::InProcessFederation connect() const;
};

// Loads and divides the data.
[[nodiscard]] Simulation make_simulation(ExperimentConfig config,
                                         const std::optional<DumpConfig>& dump = {});
[[nodiscard]] std::string describe(const Simulation& simulation);  // one line, for people
}  // namespace fedhur::experiment
