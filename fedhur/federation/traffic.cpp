#include "fedhur/federation/traffic.hpp"

#include <utility>

#include "fedhur/message/wire_codec.hpp"

namespace fedhur::federation {
std::vector<Answer> CountingFederation::exchange(std::span<const Request> requests) {
  const Message* last = nullptr;
  std::size_t size = 0;
  for (const Request& request : requests) {
    if (request.message.get() != last) {  // a broadcast is measured once
      last = request.message.get();
      size = message::encoded_size(*last, format_);
    }
    counted_[last->kind].down += size;
  }
  std::vector<Answer> answers = inner_->exchange(requests);
  for (const Answer& answer : answers) {
    counted_[answer.message.kind].up += message::encoded_size(answer.message, format_);
  }
  return answers;
}

TrafficByKind CountingFederation::take() { return std::exchange(counted_, {}); }
}  // namespace fedhur::federation
