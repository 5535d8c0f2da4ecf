// Clients that upload what they are given, and remember what else they are sent.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "fedhur/federation/federation.hpp"

namespace fedhur::tests {
// What a client says of the size of its tables. Of one that no server can take it says 0, so that
// the table itself is looked at.
inline void put_norms(NamedArrays& uploads) {
  const std::vector<std::pair<std::string, Array>> entries = uploads.entries();
  for (const auto& [name, array] : entries) {
    const auto* table = std::get_if<Shared<Matrix>>(&array);
    if (table == nullptr) continue;
    const double norm = (*table)->cast<double>().norm();
    const std::string stem = name.substr(0, name.rfind("_embeddings"));
    uploads.set_number(stem + "_norm", norm <= 1e15 ? norm : 0.0);
  }
}

// Answers in place of clients: `answer` fills the reply to a request.
template <class AnswerWith>
std::vector<federation::Answer> exchange_with(std::span<const federation::Request> requests,
                                              const AnswerWith& answer) {
  std::vector<federation::Answer> answers;
  for (const federation::Request& request : requests) {
    const message::Message& asked = *request.message;
    message::Message reply{.kind = asked.kind, .round = asked.round, .arrays = {}};
    answer(static_cast<std::size_t>(request.client), asked, reply);
    answers.push_back({request.client, std::move(reply)});
    federation::check_answer(answers.back(), request);
    federation::take_out(answers.back(), request);
  }
  return answers;
}

inline bool asks_for_uploads(const message::Message& request) {
  return request.kind == "train" || request.kind == "upload";
}

class FixedUploads : public federation::Federation {
 public:
  explicit FixedUploads(std::vector<NamedArrays> given)
      : uploads(std::move(given)), received(uploads.size()) {}

  [[nodiscard]] Index num_clients() const override { return static_cast<Index>(uploads.size()); }
  std::vector<federation::Answer> exchange(std::span<const federation::Request> requests) override {
    return exchange_with(requests, [&](std::size_t k, const auto& asked, auto& reply) {
      if (!asks_for_uploads(asked)) {
        received[k] = asked.arrays;
        return;
      }
      reply.arrays = uploads[k];
      put_norms(reply.arrays);
      reply.arrays.set_number("loss_sum", 4);
      reply.arrays.set_number("num_samples", 2);
    });
  }

  std::vector<NamedArrays> uploads;
  std::vector<NamedArrays> received;  // with the last request that did not ask for uploads
};
}  // namespace fedhur::tests
