#include "fedhur/federation/traffic.hpp"

#include <unordered_map>
#include <utility>

#include "fedhur/message/wire_codec.hpp"

namespace fedhur::federation {
std::vector<Answer> CountingFederation::exchange(std::span<const Request> requests) {
  std::unordered_map<const Message*, std::size_t> sizes;  // a broadcast is measured once
  for (const Request& request : requests) {
    const auto [entry, is_new] = sizes.try_emplace(request.message.get());
    if (is_new) entry->second = message::encoded_size(*request.message, format_);
    counted_[request.message->kind].down += entry->second;
  }
  std::vector<Answer> answers = inner_->exchange(requests);
  for (const Answer& answer : answers) {
    counted_[answer.message.kind].up += message::encoded_size(answer.message, format_);
  }
  return answers;
}

TrafficByKind CountingFederation::take() { return std::exchange(counted_, {}); }
}  // namespace fedhur::federation
