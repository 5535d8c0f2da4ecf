#include "fedhur/methods/common.hpp"

namespace fedhur::methods {
message::Message reply_to(const message::Message& request) {
  return {.kind = request.kind, .round = request.round, .arrays = {}};
}

void put_loss(message::Message& reply, const client::TrainingLoss& loss) {
  reply.arrays.set_number("loss_sum", loss.sum);
  reply.arrays.set_number("num_samples", loss.num_samples);
}

double mean_loss(const std::vector<federation::Answer>& answers) {
  double sum = 0.0;
  double num_samples = 0.0;
  for (const auto& answer : answers) {
    sum += uploaded(answer, [](const auto& arrays) { return arrays.number("loss_sum"); });
    num_samples +=
        uploaded(answer, [](const auto& arrays) { return arrays.number("num_samples"); });
  }
  return num_samples > 0.0 ? sum / num_samples : 0.0;
}
}  // namespace fedhur::methods
