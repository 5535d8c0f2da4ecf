// The server's view of its clients: requests out, answers of those that reply.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fedhur/base/ids.hpp"
#include "fedhur/message/message.hpp"
#include "fedhur/message/wire_format.hpp"

namespace fedhur::federation {
using message::Message;

// ProtocolError unless the answer can be used. Called from several threads.
using AnswerCheck = std::function<void(const Message& answer)>;

struct Answer {
  ClientId client{};
  Message message;
  // Bytes of the request and of this message where they have travelled as such, or where something
  // was taken out of it since; 0 if nobody has counted them.
  std::size_t request_size = 0;
  std::size_t size = 0;
};

// Takes what is added up out of an answer that counts. Called once for each of them, from several
// threads. It does not fail, and as the server may give up an exchange while it works, it owns what
// it needs.
using Take = std::function<void(Answer& answer)>;

struct Request {
  ClientId client{};
  std::shared_ptr<const Message> message;              // one message may go to many clients
  std::shared_ptr<const AnswerCheck> check = nullptr;  // none accepts every answer of its kind
  std::shared_ptr<const Take> take = nullptr;          // none leaves the answer whole
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
  // An exchange whose tables are added up where they arrive, so that the server never holds those
  // of all clients. The answers come back without what was taken out of them. Terms come in any
  // order: what they are added to must not depend on it (base/fixed_point_sum, base/sparse_sum).
  [[nodiscard]] std::vector<Answer> sum(std::vector<Request> requests, Take take);
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
[[nodiscard]] std::vector<Answer> sum_of(Federation& federation, std::span<const ClientId> clients,
                                         Message message, AnswerCheck check, Take take);
void tell_all(Federation& federation, Message message);
void tell(Federation& federation, std::span<const ClientId> clients, Message message);
// Who answered.
[[nodiscard]] std::vector<ClientId> clients_of(std::span<const Answer> answers);
// Sums have room for so many clients, whoever takes part, so that their unit is always the same.
inline constexpr Index kMostClients = Index{1} << 20;
// No client has more users: counts of them, summed over all clients, do not exceed kMostUsers.
inline constexpr double kMostUsers = 0x1p32;
[[nodiscard]] double most_users(Index num_clients);

// For transports. ProtocolError, with the client's name, unless the answer is one to the request.
void check_answer(const Answer& answer, const Request& request);
// What the request takes out of an answer that has passed its check and counts. Where it has not
// travelled as bytes, its size is that in this format.
void take_out(Answer& answer, const Request& request, const message::WireFormat& format = {});
}  // namespace fedhur::federation
