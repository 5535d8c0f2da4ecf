// A client as the federation knows it: something that answers.
#pragma once
#include "fedhur/message/message.hpp"

namespace fedhur::federation {
class ClientMethod {
 public:
  virtual ~ClientMethod() = default;
  // The reply has the request's kind and round. ProtocolError for a request it does not understand.
  [[nodiscard]] virtual message::Message answer(const message::Message& request) = 0;
};
}  // namespace fedhur::federation
