#include "fedhur/federation/federation.hpp"

#include <fmt/format.h>

namespace fedhur::federation {
std::vector<Answer> ask_all(Federation& federation, Message message) {
  const auto shared = std::make_shared<const Message>(std::move(message));
  std::vector<Request> requests;
  for (Index client = 0; client < federation.num_clients(); ++client) {
    requests.push_back({client_id(client), shared});
  }
  std::vector<Answer> answers = federation.exchange(requests);
  for (const Answer& answer : answers) check_answer(answer, shared->kind);
  return answers;
}

void check_answer(const Answer& answer, const std::string& expected_kind) {
  if (answer.message.kind != expected_kind) {
    throw ProtocolError(fmt::format("client {}: answered '{}' to '{}'", index_of(answer.client),
                                    answer.message.kind, expected_kind));
  }
}
}  // namespace fedhur::federation
