// Bytes on the wire by message kind, counted by a decorator that every transport can wear.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "fedhur/federation/federation.hpp"
#include "fedhur/message/wire_format.hpp"

namespace fedhur::federation {
struct Traffic {
  std::uint64_t up = 0;    // client to server, summed over clients; none for what they were told
  std::uint64_t down = 0;  // server to client
};
using TrafficByKind = std::map<std::string, Traffic>;

class CountingFederation : public Federation {
 public:
  // `format` is that of `inner`'s wire.
  explicit CountingFederation(Federation& inner, const message::WireFormat& format = {})
      : inner_(&inner), format_(format) {}
  [[nodiscard]] Index num_clients() const override { return inner_->num_clients(); }
  [[nodiscard]] std::vector<Answer> exchange(std::span<const Request> requests) override;
  void tell(std::span<const Request> requests) override;
  // What was counted since the last call.
  [[nodiscard]] TrafficByKind take();

 private:
  void count_requests(std::span<const Request> requests,
                      const std::map<ClientId, std::size_t>& travelled);
  [[nodiscard]] std::size_t size_of(std::size_t travelled, const Message& message) const;

  Federation* inner_;
  message::WireFormat format_;
  TrafficByKind counted_;
};
}  // namespace fedhur::federation
