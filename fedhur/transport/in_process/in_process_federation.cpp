#include "fedhur/transport/in_process/in_process_federation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fedhur/message/wire_codec.hpp"

namespace fedhur::transport {
using federation::Answer;
using federation::Request;
using message::Message;

InProcessFederation::InProcessFederation(std::vector<federation::ClientMethod*> clients,
                                         const Executor& executor,
                                         const message::WireFormat& format)
    : clients_(std::move(clients)), executor_(&executor), format_(format) {}

Index InProcessFederation::num_clients() const { return static_cast<Index>(clients_.size()); }

std::vector<Answer> InProcessFederation::exchange(std::span<const Request> requests) {
  // A broadcast arrives once; clients only read it.
  std::map<const Message*, Index> slots;
  std::vector<const Message*> sent;
  for (const Request& request : requests) {
    expects(index_of(request.client) < num_clients(),
            "the request names a client of this federation");
    const auto next = static_cast<Index>(sent.size());
    if (slots.emplace(request.message.get(), next).second) sent.push_back(request.message.get());
  }
  std::vector<Message> received(sent.size());
  executor_->for_each(static_cast<Index>(sent.size()), [&](Index i) {
    const auto slot = static_cast<std::size_t>(i);
    received[slot] = message::transmit(*sent[slot], format_);
  });
  std::vector<Answer> answers(requests.size());
  executor_->for_each(static_cast<Index>(requests.size()), [&](Index i) {
    const Request& request = requests[static_cast<std::size_t>(i)];
    const Index client = index_of(request.client);
    Answer& answer = answers[static_cast<std::size_t>(i)];
    try {
      const Message reply = clients_[static_cast<std::size_t>(client)]->answer(
          received[static_cast<std::size_t>(slots.at(request.message.get()))]);
      answer = {request.client, message::transmit(reply, format_)};
    } catch (const ProtocolError& error) {
      throw ProtocolError(fmt::format("client {}: {}", client, error.what()));
    }
    federation::check_answer(answer, request);
    federation::take_out(answer, request, format_);
  });
  std::sort(answers.begin(), answers.end(),
            [](const Answer& a, const Answer& b) { return a.client < b.client; });
  return answers;
}
}  // namespace fedhur::transport
