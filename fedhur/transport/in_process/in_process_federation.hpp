// All clients in this process: the simulation. Messages still pass the codec, so that whatever
// works here works over a network.
#pragma once
#include <functional>
#include <vector>

#include "fedhur/base/parallel.hpp"
#include "fedhur/federation/client_method.hpp"
#include "fedhur/federation/federation.hpp"

namespace fedhur::transport {
class InProcessFederation : public federation::Federation {
 public:
  // Clients and executor must outlive this.
  InProcessFederation(std::vector<federation::ClientMethod*> clients, const Executor& executor);
  [[nodiscard]] Index num_clients() const override;
  [[nodiscard]] std::vector<federation::Answer> exchange(
      std::span<const federation::Request> requests) override;

 private:
  std::vector<federation::ClientMethod*> clients_;
  const Executor* executor_;
};
}  // namespace fedhur::transport
