// What several methods say in the same words.
#pragma once
#include <vector>

#include "fedhur/client/local_training.hpp"
#include "fedhur/federation/federation.hpp"

namespace fedhur::methods {
[[nodiscard]] message::Message reply_to(const message::Message& request);
// A training loss as part of a reply, and the mean over all replies.
void put_loss(message::Message& reply, const client::TrainingLoss& loss);
[[nodiscard]] double mean_loss(const std::vector<federation::Answer>& answers);
}  // namespace fedhur::methods
