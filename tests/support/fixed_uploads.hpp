// Clients that answer "train" with what they are given, and remember what else they are sent.
#pragma once
#include <vector>

#include "fedhur/federation/federation.hpp"

namespace fedhur::tests {
class FixedUploads : public federation::Federation {
 public:
  explicit FixedUploads(std::vector<NamedArrays> given)
      : uploads(std::move(given)), received(uploads.size()) {}

  [[nodiscard]] Index num_clients() const override { return static_cast<Index>(uploads.size()); }
  std::vector<federation::Answer> exchange(std::span<const federation::Request> requests) override {
    std::vector<federation::Answer> answers;
    for (const auto& request : requests) {
      const auto k = static_cast<std::size_t>(request.client);
      message::Message reply{
          .kind = request.message->kind, .round = request.message->round, .arrays = {}};
      if (reply.kind == "train") {
        reply.arrays = uploads[k];
        reply.arrays.set_number("loss_sum", 4);
        reply.arrays.set_number("num_samples", 2);
      } else {
        received[k] = request.message->arrays;
      }
      answers.push_back({request.client, std::move(reply)});
      federation::check_answer(answers.back(), request);
    }
    return answers;
  }

  std::vector<NamedArrays> uploads;
  std::vector<NamedArrays> received;  // with the last request that was not "train"
};
}  // namespace fedhur::tests
