#include "fedhur/client/client.hpp"

#include <fmt/format.h>

namespace fedhur::client {
void refuse(const message::Message& request) {
  throw ProtocolError(fmt::format("no answer is known to a request of kind '{}'", request.kind));
}
}  // namespace fedhur::client
