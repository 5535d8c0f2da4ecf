#include "fedhur/federation/traffic.hpp"

#include <utility>

#include "fedhur/message/wire_codec.hpp"

namespace fedhur::federation {
std::vector<Answer> CountingFederation::exchange(std::span<const Request> requests) {
  for (const Request& request : requests) {
    counted_[request.message->kind].down += message::encoded_size(*request.message);
  }
  std::vector<Answer> answers = inner_->exchange(requests);
  for (const Answer& answer : answers) {
    counted_[answer.message.kind].up += message::encoded_size(answer.message);
  }
  return answers;
}

TrafficByKind CountingFederation::take() { return std::exchange(counted_, {}); }
}  // namespace fedhur::federation
