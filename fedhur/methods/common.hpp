// What several methods say in the same words.
#pragma once
#include <span>
#include <vector>

#include "fedhur/client/training.hpp"
#include "fedhur/federation/federation.hpp"
#include "fedhur/methods/method.hpp"

namespace fedhur::methods {
[[nodiscard]] message::Message reply_to(const message::Message& request);

// The random item embeddings that all clients start from, and "start" with them, which are
// returned.
[[nodiscard]] Matrix draw_item_embeddings(const ServerContext& context, Index embedding_dim,
                                          Real init_std);
Shared<Matrix> send_start(const ServerContext& context, Index embedding_dim, Real init_std,
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
}  // namespace fedhur::methods
