#include "fedhur/federation/federation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "fedhur/message/wire_codec.hpp"

namespace fedhur::federation {
std::vector<Answer> Federation::sum(std::vector<Request> requests, Take take) {
  const auto shared = std::make_shared<const Take>(std::move(take));
  for (Request& request : requests) request.take = shared;
  return exchange(requests);
}

std::vector<ClientId> all_clients(const Federation& federation) {
  std::vector<ClientId> all;
  for (Index client = 0; client < federation.num_clients(); ++client) {
    all.push_back(client_id(client));
  }
  return all;
}

namespace {
std::vector<Request> address(std::span<const ClientId> clients, Message message,
                             AnswerCheck check) {
  const auto shared = std::make_shared<const Message>(std::move(message));
  const auto shared_check = check ? std::make_shared<const AnswerCheck>(std::move(check)) : nullptr;
  std::vector<Request> requests;
  requests.reserve(clients.size());
  for (const ClientId client : clients) requests.push_back({client, shared, shared_check});
  return requests;
}
}  // namespace

std::vector<Answer> ask_all(Federation& federation, Message message, AnswerCheck check) {
  return ask(federation, all_clients(federation), std::move(message), std::move(check));
}

std::vector<Answer> ask(Federation& federation, std::span<const ClientId> clients, Message message,
                        AnswerCheck check) {
  return federation.exchange(address(clients, std::move(message), std::move(check)));
}

std::vector<Answer> sum_of(Federation& federation, std::span<const ClientId> clients,
                           Message message, AnswerCheck check, Take take) {
  return federation.sum(address(clients, std::move(message), std::move(check)), std::move(take));
}

void tell_all(Federation& federation, Message message) {
  tell(federation, all_clients(federation), std::move(message));
}

void tell(Federation& federation, std::span<const ClientId> clients, Message message) {
  federation.tell(address(clients, std::move(message), {}));
}

std::vector<ClientId> clients_of(std::span<const Answer> answers) {
  std::vector<ClientId> clients;
  clients.reserve(answers.size());
  for (const Answer& answer : answers) clients.push_back(answer.client);
  return clients;
}

double most_users(Index num_clients) {
  return std::floor(kMostUsers / static_cast<double>(num_clients));
}

void check_answer(const Answer& answer, const Request& request) {
  const auto fail = [&](const std::string& what) {
    throw ProtocolError(fmt::format("client {}: {}", index_of(answer.client), what));
  };
  if (answer.message.kind != request.message->kind) {
    fail(fmt::format("answered '{}' to '{}'", answer.message.kind, request.message->kind));
  }
  if (answer.message.round != request.message->round) {
    fail(fmt::format("answered for round {} in round {}", answer.message.round + 1,
                     request.message->round + 1));
  }
  if (!request.check) return;
  try {
    (*request.check)(answer.message);
  } catch (const ProtocolError& error) {
    fail(error.what());
  }
}

void take_out(Answer& answer, const Request& request, const message::WireFormat& format) {
  if (!request.take) return;
  if (answer.size == 0) answer.size = message::encoded_size(answer.message, format);
  (*request.take)(answer);
}
}  // namespace fedhur::federation
