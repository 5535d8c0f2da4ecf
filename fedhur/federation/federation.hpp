// The server's view of its clients: ask, and hear from those who answer.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fedhur/base/ids.hpp"
#include "fedhur/message/message.hpp"

namespace fedhur::federation {
using message::Message;

struct Request {
  ClientId client{};
  std::shared_ptr<const Message> message;  // one message may go to many clients
};

struct Answer {
  ClientId client{};
  Message message;
};

class Federation {
 public:
  virtual ~Federation() = default;
  [[nodiscard]] virtual Index num_clients() const = 0;
  // Answers in ascending client order; absentees are missing. TransportError below the quorum.
  [[nodiscard]] virtual std::vector<Answer> exchange(std::span<const Request> requests) = 0;
};

// The same message to every client.
[[nodiscard]] std::vector<Answer> ask_all(Federation& federation, Message message);
// ProtocolError with the client's name before what the check says.
void check_answer(const Answer& answer, const std::string& expected_kind);
}  // namespace fedhur::federation
