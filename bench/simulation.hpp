// A federation in one process on built-in data, for benchmarks of whole rounds.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "fedhur/evaluate/evaluating_client.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/prepare_data.hpp"
#include "fedhur/transport/in_process/in_process_federation.hpp"

namespace fedhur::bench {
class Simulation {
 public:
  Simulation(const std::vector<std::string>& settings, Index threads) : executor_(threads) {
    ConfigTable table;
    for (const std::string& assignment : settings) experiment::add_assignment(table, assignment);
    const experiment::ExperimentConfig config = experiment::read_experiment_config(table);
    const auto prepared = experiment::prepare_data(config.data, config.seed, table);
    std::vector<federation::ClientMethod*> methods;
    for (auto& data : data::distribute(prepared.dataset, prepared.parts, prepared.user_clients)) {
      auto inner = config.configured_method.make_client(
          {.id = client_id(static_cast<Index>(clients_.size())),
           .train = data.train,
           .num_items = prepared.dataset.num_items(),
           .rng = Rng(1)});
      clients_.push_back(std::make_unique<evaluate::EvaluatingClient>(
          std::move(inner), std::move(data), std::vector<Index>{10}));
      methods.push_back(clients_.back().get());
    }
    federation_ = std::make_unique<transport::InProcessFederation>(methods, executor_);
    server_ =
        config.configured_method.make_server({.num_clients = static_cast<Index>(clients_.size()),
                                              .num_items = prepared.dataset.num_items(),
                                              .rng = Rng(1),
                                              .executor = &executor_});
  }

  federation::RoundNotes run_round() { return server_->run_round(round_++, *federation_); }
  evaluate::Quality evaluate() {
    return evaluate::evaluate_clients(*federation_, round_ - 1, {10});
  }

 private:
  Executor executor_;
  std::vector<std::unique_ptr<evaluate::EvaluatingClient>> clients_;
  std::unique_ptr<transport::InProcessFederation> federation_;
  std::unique_ptr<federation::ServerMethod> server_;
  Round round_ = 0;
};
}  // namespace fedhur::bench
