// A federation in one process, for benchmarks of whole rounds.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "fedhur/base/stopwatch.hpp"
#include "fedhur/experiment/party.hpp"
#include "fedhur/experiment/prepare_data.hpp"
#include "fedhur/federation/timing.hpp"
#include "fedhur/transport/in_process/in_process_federation.hpp"

namespace fedhur::bench {
class Simulation {
 public:
  // On built-in data.
  Simulation(const std::vector<std::string>& settings, Index threads) : executor_(threads) {
    const auto config = experiment::resolve(to_table(settings)).config;
    const auto prepared = experiment::prepare_data(config.data, config.seed);
    assemble(config, data::distribute(prepared.dataset, prepared.parts, prepared.user_clients),
             prepared.dataset.num_items());
  }
  // On these data.
  Simulation(const std::vector<std::string>& settings, Index threads,
             std::vector<data::ClientData> client_data, Index num_items)
      : executor_(threads) {
    assemble(experiment::resolve(to_table(settings)).config, std::move(client_data), num_items);
  }

  federation::Seconds run_round() {  // by phase
    federation::TimingFederation timing(*federation_);
    const Stopwatch watch;
    (void)server_->run_round(round_++, timing);
    return federation::phases_of_round(timing.take(), watch.seconds());
  }
  evaluate::Quality evaluate() {
    return evaluate::evaluate_clients(*federation_, round_ - 1, {10});
  }

 private:
  static ConfigTable to_table(const std::vector<std::string>& settings) {
    ConfigTable table;
    for (const std::string& assignment : settings) experiment::add_assignment(table, assignment);
    return table;
  }

  void assemble(const experiment::ExperimentConfig& config,
                std::vector<data::ClientData> client_data, Index num_items) {
    party_ = experiment::Party(config, std::move(client_data), num_items, executor_);
    federation_ = std::make_unique<transport::InProcessFederation>(party_.methods(), executor_);
    server_ =
        experiment::make_server(config, static_cast<Index>(party_.size()), num_items, executor_);
  }

  Executor executor_;
  experiment::Party party_;
  std::unique_ptr<transport::InProcessFederation> federation_;
  std::unique_ptr<federation::ServerMethod> server_;
  Round round_ = 0;
};
}  // namespace fedhur::bench
