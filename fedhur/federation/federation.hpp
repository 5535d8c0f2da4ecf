// The server's view of its clients: requests out, answers of those that reply.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fedhur/base/ids.hpp"
#include "fedhur/message/message.hpp"

namespace fedhur::federation {
using message::Message;

// ProtocolError unless the answer can be used. Called from several threads.
using AnswerCheck = std::function<void(const Message& answer)>;

struct Request {
  ClientId client{};
  std::shared_ptr<const Message> message;              // one message may go to many clients
  std::shared_ptr<const AnswerCheck> check = nullptr;  // none accepts every answer of its kind
};

struct Answer {
  ClientId client{};
  Message message;
  // Bytes of the request and of this message where they have travelled as such; 0 in one process.
  std::size_t request_size = 0;
  std::size_t size = 0;
};

class Federation {
 public:
  virtual ~Federation() = default;
  [[nodiscard]] virtual Index num_clients() const = 0;
  // Answers in ascending client order, each of its request's kind and round and accepted by its
  // check; absentees are missing. TransportError below the quorum. An answer that is not accepted
  // is a ProtocolError where it can only be a mistake of ours (in one process); over a network its
  // client is refused and counts as absent.
  [[nodiscard]] virtual std::vector<Answer> exchange(std::span<const Request> requests) = 0;
  // Requests that need no answer. A client works on them before anything that it is asked later; a
  // server need not wait for that. A client that answers a later exchange has done what it was
  // told.
  virtual void tell(std::span<const Request> requests) { (void)exchange(requests); }
};

[[nodiscard]] std::vector<ClientId> all_clients(const Federation& federation);
// The same message to every client, or to these.
[[nodiscard]] std::vector<Answer> ask_all(Federation& federation, Message message,
                                          AnswerCheck check = {});
[[nodiscard]] std::vector<Answer> ask(Federation& federation, std::span<const ClientId> clients,
                                      Message message, AnswerCheck check = {});
void tell_all(Federation& federation, Message message);
void tell(Federation& federation, std::span<const ClientId> clients, Message message);
// Who answered.
[[nodiscard]] std::vector<ClientId> clients_of(std::span<const Answer> answers);
// For transports: ProtocolError, with the client's name, unless it answers the request.
void check_answer(const Answer& answer, const Request& request);
}  // namespace fedhur::federation
