#include "fedhur/methods/common.hpp"

#include "fedhur/base/random_matrix.hpp"

namespace fedhur::methods {
message::Message reply_to(const message::Message& request) {
  return {.kind = request.kind, .round = request.round, .arrays = {}};
}

Matrix draw_item_embeddings(const ServerContext& context, Index embedding_dim, Real init_std) {
  return normal_matrix(context.num_items, embedding_dim, init_std,
                       context.rng.stream(Draw::item_init));
}

Shared<Matrix> send_start(const ServerContext& context, Index embedding_dim, Real init_std,
                          federation::Federation& federation) {
  auto embeddings =
      std::make_shared<const Matrix>(draw_item_embeddings(context, embedding_dim, init_std));
  message::Message start{.kind = "start", .round = 0, .arrays = {}};
  start.arrays.set("item_embeddings", Array(embeddings));
  tell_all(federation, std::move(start));
  return embeddings;
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
}  // namespace fedhur::methods
