// What several methods say in the same words.
#pragma once
#include <fmt/format.h>

#include <string>
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
// The same from all answers, in their order.
template <class Read>
[[nodiscard]] std::vector<Shared<Matrix>> collect(const std::vector<federation::Answer>& answers,
                                                  const Executor& executor, const Read& read) {
  std::vector<Shared<Matrix>> tables(answers.size());
  executor.for_each(static_cast<Index>(answers.size()), [&](Index i) {
    const auto k = static_cast<std::size_t>(i);
    tables[k] = uploaded(answers[k], read);
  });
  return tables;
}

// A training loss as part of a reply, and the mean over all replies.
void put_loss(message::Message& reply, const client::TrainingLoss& loss);
[[nodiscard]] double mean_loss(const std::vector<federation::Answer>& answers);

// n_k / sum_j n_j from the "num_interactions" of all replies. ProtocolError unless they are numbers
// of 0 or more, and not all 0.
[[nodiscard]] std::vector<double> data_weights(const std::vector<federation::Answer>& answers);

// A table with Laplace noise of this scale on every number; the same table if the scale is 0.
[[nodiscard]] Shared<Matrix> add_laplace_noise(const Shared<Matrix>& table, Real scale, Rng rng);

// Item embeddings as part of a reply: their best approximation of this rank, or all of them if the
// rank is 0, if that takes no more numbers, or if they are not finite (the server will say so).
// Names begin with `stem`: a method may have two such tables.
void put_item_embeddings(message::Message& reply, const Shared<Matrix>& embeddings, Index rank,
                         const std::string& stem = "item");
// What the server sees of them. ProtocolError unless there is a row per item of that length.
[[nodiscard]] Shared<Matrix> read_item_embeddings(const NamedArrays& arrays, Index num_items,
                                                  Index embedding_dim,
                                                  const std::string& stem = "item");
// As above, and ProtocolError if a number is not finite.
[[nodiscard]] Shared<Matrix> read_finite_item_embeddings(const NamedArrays& arrays, Index num_items,
                                                         Index embedding_dim,
                                                         const std::string& stem = "item");
}  // namespace fedhur::methods
