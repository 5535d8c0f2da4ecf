// All clients in this process: the simulation. What arrives is what the codec would bring over a
// network, to the bit, but whatever travels exactly is shared instead of copied.
#pragma once
#include <functional>
#include <vector>

#include "fedhur/base/parallel.hpp"
#include "fedhur/federation/client_method.hpp"
#include "fedhur/federation/federation.hpp"
#include "fedhur/message/wire_format.hpp"

namespace fedhur::transport {
class InProcessFederation : public federation::Federation {
 public:
  // Clients and executor must outlive this.
  InProcessFederation(std::vector<federation::ClientMethod*> clients, const Executor& executor,
                      const message::WireFormat& format = {});
  [[nodiscard]] Index num_clients() const override;
  [[nodiscard]] std::vector<federation::Answer> exchange(
      std::span<const federation::Request> requests) override;

 private:
  std::vector<federation::ClientMethod*> clients_;
  const Executor* executor_;
  message::WireFormat format_;
};
}  // namespace fedhur::transport
