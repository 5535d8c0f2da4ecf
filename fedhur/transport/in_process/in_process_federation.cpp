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
                                         const Executor& executor)
    : clients_(std::move(clients)), executor_(&executor) {}

Index InProcessFederation::num_clients() const { return static_cast<Index>(clients_.size()); }

std::vector<Answer> InProcessFederation::exchange(std::span<const Request> requests) {
  // A broadcast is decoded once; clients only read it.
  std::map<const Message*, Message> received;
  for (const Request& request : requests) {
    expects(index_of(request.client) < num_clients(),
            "the request names a client of this federation");
    if (!received.contains(request.message.get())) {
      received.emplace(request.message.get(), message::decode(message::encode(*request.message)));
    }
  }
  std::vector<Answer> answers(requests.size());
  executor_->for_each(static_cast<Index>(requests.size()), [&](Index i) {
    const Request& request = requests[static_cast<std::size_t>(i)];
    const Index client = index_of(request.client);
    try {
      const Message reply =
          clients_[static_cast<std::size_t>(client)]->answer(received.at(request.message.get()));
      answers[static_cast<std::size_t>(i)] = {request.client,
                                              message::decode(message::encode(reply))};
    } catch (const ProtocolError& error) {
      throw ProtocolError(fmt::format("client {}: {}", client, error.what()));
    }
  });
  std::sort(answers.begin(), answers.end(),
            [](const Answer& a, const Answer& b) { return a.client < b.client; });
  return answers;
}
}  // namespace fedhur::transport
