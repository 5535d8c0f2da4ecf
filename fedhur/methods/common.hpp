// What several methods say in the same words.
#pragma once
#include <span>
#include <vector>

#include "fedhur/client/local_training.hpp"
#include "fedhur/federation/federation.hpp"
#include "fedhur/message/wire_format.hpp"
#include "fedhur/methods/method.hpp"

namespace fedhur::methods {
struct WireConfig {
  message::WireFormat format;  // of every message, both ways
  Index rank = 0;              // w of uploaded item embeddings; 0 sends them as they are
};
void read_settings(ConfigTable& table, WireConfig& config);

[[nodiscard]] message::Message reply_to(const message::Message& request);

// The random item embeddings that all clients start from, and "start" with them.
[[nodiscard]] Matrix draw_item_embeddings(const ServerContext& context, Index embedding_dim,
                                          Real init_std);
void send_start(const ServerContext& context, Index embedding_dim, Real init_std,
                federation::Federation& federation);

// One message for each of these clients; `put` fills in what differs, by the place in the list.
template <class Put>
[[nodiscard]] std::vector<federation::Request> requests_for(std::span<const ClientId> clients,
                                                            const message::Message& common,
                                                            const Put& put) {
  std::vector<federation::Request> requests;
  for (std::size_t k = 0; k < clients.size(); ++k) {
    auto own = std::make_shared<message::Message>(common);
    put(k, own->arrays);
    requests.push_back({.client = clients[k], .message = std::move(own)});
  }
  return requests;
}

// A training loss as part of a reply, and the mean over all replies that passed check_loss().
void put_loss(message::Message& reply, const client::TrainingLoss& loss);
[[nodiscard]] double mean_loss(const std::vector<federation::Answer>& answers);

// A table with Laplace noise of this scale on every number; the same table if the scale is 0.
[[nodiscard]] Shared<Matrix> add_laplace_noise(const Shared<Matrix>& table, Real scale, Rng rng);
}  // namespace fedhur::methods
