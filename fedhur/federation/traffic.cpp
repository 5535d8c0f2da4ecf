#include "fedhur/federation/traffic.hpp"

#include <map>
#include <unordered_map>
#include <utility>

#include "fedhur/message/wire_codec.hpp"

namespace fedhur::federation {
std::vector<Answer> CountingFederation::exchange(std::span<const Request> requests) {
  std::vector<Answer> answers = inner_->exchange(requests);
  std::map<ClientId, std::size_t> travelled;
  for (const Answer& answer : answers) {
    travelled[answer.client] = answer.request_size;
    counted_[answer.message.kind].up += size_of(answer.size, answer.message);
  }
  count_requests(requests, travelled);
  return answers;
}

void CountingFederation::tell(std::span<const Request> requests) {
  inner_->tell(requests);
  count_requests(requests, {});
}

void CountingFederation::count_requests(std::span<const Request> requests,
                                        const std::map<ClientId, std::size_t>& travelled) {
  std::unordered_map<const Message*, std::size_t> sizes;  // a broadcast is measured once
  for (const Request& request : requests) {
    const auto [entry, is_new] = sizes.try_emplace(request.message.get());
    if (is_new) {
      const auto found = travelled.find(request.client);
      entry->second = size_of(found == travelled.end() ? 0 : found->second, *request.message);
    }
    counted_[request.message->kind].down += entry->second;
  }
}

std::size_t CountingFederation::size_of(std::size_t travelled, const Message& message) const {
  return travelled > 0 ? travelled : message::encoded_size(message, format_);
}

TrafficByKind CountingFederation::take() { return std::exchange(counted_, {}); }
}  // namespace fedhur::federation
