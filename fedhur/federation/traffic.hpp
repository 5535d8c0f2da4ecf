// Bytes on the wire by message kind, counted by a decorator that every transport can wear.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "fedhur/federation/federation.hpp"

namespace fedhur::federation {
struct Traffic {
  std::uint64_t up = 0;    // client to server, summed over clients
  std::uint64_t down = 0;  // server to client
};
using TrafficByKind = std::map<std::string, Traffic>;

class CountingFederation : public Federation {
 public:
  explicit CountingFederation(Federation& inner) : inner_(&inner) {}
  [[nodiscard]] Index num_clients() const override { return inner_->num_clients(); }
  [[nodiscard]] std::vector<Answer> exchange(std::span<const Request> requests) override;
  // What was counted since the last call.
  [[nodiscard]] TrafficByKind take();

 private:
  Federation* inner_;
  TrafficByKind counted_;
};
}  // namespace fedhur::federation
