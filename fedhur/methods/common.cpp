#include "fedhur/methods/common.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/random_matrix.hpp"

namespace fedhur::methods {
void read_settings(ConfigTable& table, WireConfig& config) {
  ConfigSection wire(table, "wire");
  wire.read("precision", config.format.precision);
  wire.read("rank", config.rank);
  wire.require(config.rank >= 0, "rank", "a number of 0 or more");
}

message::Message reply_to(const message::Message& request) {
  return {.kind = request.kind, .round = request.round, .arrays = {}};
}

Matrix draw_item_embeddings(const ServerContext& context, Index embedding_dim, Real init_std) {
  return normal_matrix(context.num_items, embedding_dim, init_std,
                       context.rng.stream(Draw::item_init));
}

void send_start(const ServerContext& context, Index embedding_dim, Real init_std,
                federation::Federation& federation) {
  message::Message start{.kind = "start", .round = 0, .arrays = {}};
  start.arrays.set("item_embeddings", draw_item_embeddings(context, embedding_dim, init_std));
  tell_all(federation, std::move(start));
}

void put_loss(message::Message& reply, const client::TrainingLoss& loss) {
  reply.arrays.set_number("loss_sum", loss.sum);
  reply.arrays.set_number("num_samples", loss.num_samples);
}

double mean_loss(const std::vector<federation::Answer>& answers) {
  double sum = 0.0;
  double num_samples = 0.0;
  for (const auto& answer : answers) {
    sum += answer.message.arrays.number("loss_sum");
    num_samples += answer.message.arrays.number("num_samples");
  }
  return num_samples > 0.0 ? sum / num_samples : 0.0;
}

Shared<Matrix> add_laplace_noise(const Shared<Matrix>& table, Real scale, Rng rng) {
  if (scale == 0.0F) return table;
  Matrix noisy = *table;
  for (Index i = 0; i < noisy.size(); ++i) {
    const double u = rng.uniform() - 0.5;
    // u may be -0.5 itself, the logarithm must not be that of zero.
    const double magnitude = -std::log(std::max(1.0 - 2.0 * std::abs(u), 0x1p-53));
    noisy.data()[i] += scale * static_cast<Real>(u < 0.0 ? -magnitude : magnitude);
  }
  return std::make_shared<const Matrix>(std::move(noisy));
}
}  // namespace fedhur::methods
