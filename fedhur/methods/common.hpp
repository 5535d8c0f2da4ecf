// What several methods say in the same words.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "fedhur/base/parallel.hpp"
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

// The random item embeddings that all clients start from, and "start" with them.
[[nodiscard]] Matrix draw_item_embeddings(const ServerContext& context, Index embedding_dim,
                                          Real init_std);
void send_start(const ServerContext& context, Index embedding_dim, Real init_std,
                federation::Federation& federation);

// One message per client, `put` fills in what differs.
template <class Put>
[[nodiscard]] std::vector<federation::Request> requests_for(Index num_clients,
                                                            const message::Message& common,
                                                            const Put& put) {
  std::vector<federation::Request> requests;
  for (Index client = 0; client < num_clients; ++client) {
    auto own = std::make_shared<message::Message>(common);
    put(client, own->arrays);
    requests.push_back({.client = client_id(client), .message = std::move(own)});
  }
  return requests;
}

// A training loss as part of a reply, and the mean over all replies.
void put_loss(message::Message& reply, const client::TrainingLoss& loss);
[[nodiscard]] double mean_loss(const std::vector<federation::Answer>& answers);

// "num_interactions" of a reply; ProtocolError unless it is a count.
[[nodiscard]] double read_data_size(const NamedArrays& arrays);
// n_k / sum_j n_j of all replies; ProtocolError if all are 0.
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

// No number that a client uploads is larger: trained embeddings are a hundred times smaller, and
// queries have columns of unit length. Without a bound one hostile client could stop all others,
// since squares and cubes of the eigenvalues of the filter, n d times its square, have to be
// floats.
constexpr Real kLargestUpload = 1e3F;
// ProtocolError if one is, or is not finite.
void require_bounded(const Matrix& upload, std::string_view name);
// As read_item_embeddings(), and bounded.
[[nodiscard]] Shared<Matrix> read_bounded_item_embeddings(const NamedArrays& arrays,
                                                          Index num_items, Index embedding_dim,
                                                          const std::string& stem = "item");
// The same of all answers; a ProtocolError names the client.
[[nodiscard]] std::vector<Shared<Matrix>> read_uploads(
    const std::vector<federation::Answer>& answers, Index num_items, Index embedding_dim,
    const Executor& executor);
}  // namespace fedhur::methods
