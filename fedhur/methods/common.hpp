// What several methods say in the same words.
#pragma once
#include <fmt/format.h>

#include <vector>

#include "fedhur/client/local_training.hpp"
#include "fedhur/federation/federation.hpp"

namespace fedhur::methods {
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
}  // namespace fedhur::methods
