// Both halves of a method on the data of a configuration, for any transport in between.
#pragma once
#include <memory>
#include <vector>

#include "fedhur/evaluate/evaluating_client.hpp"
#include "fedhur/experiment/prepare_data.hpp"
#include "fedhur/linalg/blas.hpp"
#include "tests/support/support.hpp"

namespace fedhur::tests {
class MethodRun {
 public:
  // All clients, or only some of them, who are what they would be among all.
  explicit MethodRun(ConfigTable table, Index num_threads = 2, const std::vector<Index>& only = {})
      : config(experiment::read_experiment_config(table)),
        executor((linalg::prepare_blas(num_threads), num_threads)) {
    const experiment::PreparedData prepared =
        experiment::prepare_data(config.data, config.seed, table);
    const Rng rng(config.seed);
    const Index num_items = prepared.dataset.num_items();
    auto all = data::distribute(prepared.dataset, prepared.parts, prepared.user_clients);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto id = static_cast<Index>(k);
      if (!only.empty() && std::ranges::find(only, id) == only.end()) continue;
      auto half = config.configured_method.make_client(
          {.id = client_id(id), .train = all[k].train, .num_items = num_items, .rng = rng});
      clients.push_back(std::make_unique<evaluate::EvaluatingClient>(
          std::move(half), std::move(all[k]), config.evaluation.cutoffs));
    }
    server = config.configured_method.make_server(
        {.num_clients = num_clients(), .num_items = num_items, .rng = rng, .executor = &executor});
  }

  [[nodiscard]] Index num_clients() const { return std::ssize(clients); }
  [[nodiscard]] std::vector<federation::ClientMethod*> client_methods() const {
    std::vector<federation::ClientMethod*> methods;
    for (const auto& client : clients) methods.push_back(client.get());
    return methods;
  }

  // To the last bit.
  [[nodiscard]] std::vector<std::byte> client_state(std::size_t k) const {
    ByteWriter writer;
    clients[k]->inner().save().write(writer, nullptr);
    return writer.finish();
  }
  [[nodiscard]] std::vector<std::byte> server_state() const {
    ByteWriter writer;
    encode(server->save(), writer);
    return writer.finish();
  }
  // What client k would recommend by.
  [[nodiscard]] Matrix scores(std::size_t k) const {
    const model::Recommender& recommender = clients[k]->inner().recommender();
    Matrix scores(recommender.num_users(), recommender.num_items());
    recommender.score(0, scores);
    return scores;
  }

  experiment::ExperimentConfig config;
  Executor executor;
  std::vector<std::unique_ptr<evaluate::EvaluatingClient>> clients;
  std::unique_ptr<federation::ServerMethod> server;
};
}  // namespace fedhur::tests
