// What several methods say in the same words.
#pragma once
#include <fmt/format.h>

#include <vector>

#include "fedhur/base/parallel.hpp"
#include "fedhur/client/local_training.hpp"
#include "fedhur/federation/federation.hpp"
#include "fedhur/message/wire_format.hpp"

namespace fedhur::methods {
struct WireConfig {
  message::WireFormat format;  // of every message, both ways
  Index rank = 0;              // w of uploaded item embeddings; 0 sends them as they are
};
void read_settings(ConfigTable& table, WireConfig& config);

[[nodiscard]] message::Message reply_to(const message::Message& request);
// What `read` takes from a client's answer; a ProtocolError from it names the client.
template <class Read>
auto uploaded(const federation::Answer& answer, const Read& read) {
  try {
    return read(answer.message.arrays);
  } catch (const ProtocolError& error) {
    throw ProtocolError(fmt::format("client {}: {}", index_of(answer.client), error.what()));
  }
}

// A training loss as part of a reply, and the mean over all replies.
void put_loss(message::Message& reply, const client::TrainingLoss& loss);
[[nodiscard]] double mean_loss(const std::vector<federation::Answer>& answers);

// Item embeddings as part of a reply: their best approximation of this rank, or all of them if the
// rank is 0, if that takes no more numbers, or if they are not finite (the server will say so).
void put_item_embeddings(message::Message& reply, const Shared<Matrix>& embeddings, Index rank);
// What the server sees of them. ProtocolError unless there is a row per item of that length.
[[nodiscard]] Shared<Matrix> read_item_embeddings(const NamedArrays& arrays, Index num_items,
                                                  Index embedding_dim);
// As above, and ProtocolError if a number is not finite.
[[nodiscard]] Shared<Matrix> read_finite_item_embeddings(const NamedArrays& arrays, Index num_items,
                                                         Index embedding_dim);
}  // namespace fedhur::methods
