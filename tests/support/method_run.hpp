// Both halves of a method on the data of a configuration, for any transport in between.
#pragma once
#include <memory>
#include <vector>

#include "fedhur/experiment/party.hpp"
#include "fedhur/experiment/prepare_data.hpp"
#include "fedhur/linalg/blas.hpp"
#include "tests/support/support.hpp"

namespace fedhur::tests {
class MethodRun {
 public:
  // All clients, or only some of them, who are what they would be among all.
  explicit MethodRun(const ConfigTable& table, Index num_threads = 2,
                     const std::vector<Index>& only = {})
      : config(experiment::resolve(table).config),
        executor((linalg::prepare_blas(num_threads), num_threads)) {
    const experiment::PreparedData prepared = experiment::prepare_data(config.data, config.seed);
    auto all = data::distribute(prepared.dataset, prepared.parts, prepared.user_clients);
    std::vector<data::ClientData> data;
    std::vector<ClientId> ids;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto id = static_cast<Index>(k);
      if (!only.empty() && std::ranges::find(only, id) == only.end()) continue;
      ids.push_back(client_id(id));
      data.push_back(std::move(all[k]));
    }
    const Index num_items = prepared.dataset.num_items();
    clients = experiment::Party(config, std::move(data), num_items, executor, std::move(ids));
    server = experiment::make_server(config, num_clients(), num_items, executor);
  }

  [[nodiscard]] Index num_clients() const { return static_cast<Index>(clients.size()); }
  [[nodiscard]] std::vector<federation::ClientMethod*> client_methods() const {
    return clients.methods();
  }

  // To the last bit.
  [[nodiscard]] std::vector<std::byte> client_state(std::size_t k) const {
    ByteWriter writer;
    clients[k].half().save().write(writer, nullptr);
    return writer.finish();
  }
  [[nodiscard]] std::vector<std::byte> server_state() const {
    ByteWriter writer;
    encode(server->save(), writer);
    return writer.finish();
  }
  // What client k would recommend by.
  [[nodiscard]] Matrix scores(std::size_t k) const {
    const model::Recommender& recommender = clients[k].half().recommender();
    Matrix scores(recommender.num_users(), recommender.num_items());
    recommender.score(0, scores);
    return scores;
  }

  experiment::ExperimentConfig config;
  Executor executor;
  experiment::Party clients;
  std::unique_ptr<federation::ServerMethod> server;
};
}  // namespace fedhur::tests
