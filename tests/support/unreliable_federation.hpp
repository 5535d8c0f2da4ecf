// Clients in this process as a network shows them: some miss some exchanges, and a refused reply
// counts as missing.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "fedhur/federation/client_method.hpp"
#include "fedhur/federation/federation.hpp"

namespace fedhur::tests {
class UnreliableFederation : public federation::Federation {
 public:
  using IsAbsent = std::function<bool(Index client, const message::Message& request)>;
  // What a client says instead of its honest reply.
  using Lie = std::function<void(Index client, message::Message& reply)>;

  explicit UnreliableFederation(std::vector<federation::ClientMethod*> clients)
      : clients_(std::move(clients)) {}

  [[nodiscard]] Index num_clients() const override { return std::ssize(clients_); }
  std::vector<federation::Answer> exchange(std::span<const federation::Request> requests) override {
    std::vector<federation::Answer> answers;
    for (const federation::Request& request : requests) {
      const message::Message& message = *request.message;
      const Index client = index_of(request.client);
      if (asked.empty() || asked.back().kind != message.kind ||
          asked.back().round != message.round) {
        asked.push_back({message.kind, message.round, {}});
      }
      asked.back().clients.push_back(client);
      if (is_absent && is_absent(client, message)) continue;
      try {
        federation::Answer answer{request.client,
                                  clients_[static_cast<std::size_t>(client)]->answer(message)};
        if (lie) lie(client, answer.message);
        federation::check_answer(answer, request);
        federation::take_out(answer, request);
        answers.push_back(std::move(answer));
      } catch (const ProtocolError& error) {
        refusals.emplace_back(error.what());
      }
    }
    std::ranges::sort(answers, {}, &federation::Answer::client);
    return answers;
  }

  // Who was asked for this in a round; empty if it was not asked for.
  [[nodiscard]] std::vector<Index> clients_asked(const std::string& kind, Round round) const {
    for (const Asked& exchange : asked) {
      if (exchange.kind == kind && exchange.round == round) return exchange.clients;
    }
    return {};
  }

  struct Asked {
    std::string kind;
    Round round;
    std::vector<Index> clients;
  };
  IsAbsent is_absent;
  Lie lie;
  std::vector<Asked> asked;
  std::vector<std::string> refusals;

 private:
  std::vector<federation::ClientMethod*> clients_;
};
}  // namespace fedhur::tests
