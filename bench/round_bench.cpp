// Whole FedMF rounds, evaluation of validation and test included, at the size of ML-100K (100
// clients, 943 users, 1682 items, 100,000 interactions, d 128), for 1 and 10 local epochs and 1 and
// 2 threads.
#include <benchmark/benchmark.h>

#include "fedhur/evaluate/evaluating_client.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/prepare_data.hpp"
#include "fedhur/transport/in_process/in_process_federation.hpp"

namespace fedhur::experiment {
namespace {
ConfigTable settings(Index local_epochs) {
  ConfigTable table;
  for (const std::string& assignment :
       {std::string("synthetic.num_users=943"), std::string("synthetic.num_items=1682"),
        std::string("synthetic.num_interactions=100000"),
        fmt::format("train.local_epochs={}", local_epochs)}) {
    add_assignment(table, assignment);
  }
  return table;
}

void BM_FedMfRound(benchmark::State& state) {
  ConfigTable table = settings(state.range(0));
  const ExperimentConfig config = read_experiment_config(table);
  const PreparedData prepared = prepare_data(config.data, config.seed, table);
  const Executor executor(state.range(1));
  const Index num_items = prepared.dataset.num_items();
  std::vector<std::unique_ptr<evaluate::EvaluatingClient>> clients;
  std::vector<federation::ClientMethod*> methods;
  for (auto& data : data::distribute(prepared.dataset, prepared.parts, prepared.user_clients)) {
    auto inner =
        config.configured_method.make_client({.id = client_id(static_cast<Index>(clients.size())),
                                              .train = data.train,
                                              .num_items = num_items,
                                              .rng = Rng(1)});
    clients.push_back(std::make_unique<evaluate::EvaluatingClient>(std::move(inner), data,
                                                                   std::vector<Index>{10}));
    methods.push_back(clients.back().get());
  }
  transport::InProcessFederation federation(methods, executor);
  const auto server =
      config.configured_method.make_server({.num_clients = static_cast<Index>(clients.size()),
                                            .num_items = num_items,
                                            .rng = Rng(1),
                                            .executor = &executor});
  Round round = 0;
  for (auto _ : state) {
    (void)server->run_round(round, federation);
    benchmark::DoNotOptimize(evaluate::evaluate_clients(federation, round, {10}));
    ++round;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FedMfRound)
    ->ArgNames({"local_epochs", "threads"})
    ->Args({1, 1})
    ->Args({1, 2})
    ->Args({10, 1})
    ->Args({10, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
}  // namespace
}  // namespace fedhur::experiment
