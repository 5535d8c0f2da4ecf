#include "fedhur/federation/dropout.hpp"

#include <algorithm>

namespace fedhur::federation {
double DropoutFederation::draw(const Request& request) const {
  return rng_.stream(Draw::dropout, index_of(request.client), request.message->round).uniform();
}

bool DropoutFederation::is_away(const Request& request) const {
  return draw(request) < rate_ && !called_back_.contains({request.message->round, request.client});
}

std::vector<Request> DropoutFederation::those_there(std::span<const Request> requests) {
  std::vector<Request> there;
  for (const Request& request : requests) {
    if (is_away(request)) {
      absentees_.insert(request.client);
    } else {
      there.push_back(request);
    }
  }
  return there;
}

std::vector<Answer> DropoutFederation::exchange(std::span<const Request> requests) {
  if (!requests.empty() && std::ranges::all_of(requests, [&](auto& it) { return is_away(it); })) {
    const Request& last = *std::ranges::max_element(
        requests, {}, [&](const Request& request) { return draw(request); });
    called_back_ = {{last.message->round, last.client}};
    absentees_.erase(last.client);
  }
  const std::vector<Request> there = those_there(requests);
  catch_up(there);
  return inner_->exchange(there);
}

void DropoutFederation::tell(std::span<const Request> requests) {
  const std::vector<Request> there = those_there(requests);
  for (const Request& request : requests) {
    if (!is_away(request)) continue;
    auto& missed = missed_[request.client];
    std::erase_if(missed, [&](const auto& it) { return it->kind == request.message->kind; });
    missed.push_back(request.message);
  }
  catch_up(there);
  inner_->tell(there);
}

void DropoutFederation::catch_up(std::span<const Request> requests) {
  for (;;) {
    std::vector<Request> next;  // of each client at most one
    for (const Request& request : requests) {
      const auto found = missed_.find(request.client);
      if (found == missed_.end()) continue;
      next.push_back({request.client, found->second.front()});
      found->second.erase(found->second.begin());
      if (found->second.empty()) missed_.erase(found);
    }
    if (next.empty()) return;
    inner_->tell(next);
  }
}

std::vector<ClientId> DropoutFederation::take_absentees() {
  const std::set<ClientId> absentees = std::exchange(absentees_, {});
  return {absentees.begin(), absentees.end()};
}

// A message that several have missed is stored once.
void DropoutFederation::save(ByteSink& sink) const {
  std::map<const Message*, std::uint32_t> places;
  sink.put(static_cast<std::uint32_t>(missed_.size()));
  for (const auto& [client, messages] : missed_) {
    sink.put(static_cast<std::uint32_t>(client));
    sink.put(static_cast<std::uint32_t>(messages.size()));
    for (const auto& message : messages) {
      const auto next = static_cast<std::uint32_t>(places.size());
      const auto [place, is_new] = places.try_emplace(message.get(), next);
      sink.put(place->second);
      if (!is_new) continue;
      sink.put_name(message->kind);
      sink.put(static_cast<std::int64_t>(message->round));
      encode(message->arrays, sink);
    }
  }
}

void DropoutFederation::restore(ByteReader& reader) {
  missed_.clear();
  std::vector<std::shared_ptr<const Message>> known;
  const auto num_clients = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < num_clients; ++i) {
    auto& messages = missed_[static_cast<ClientId>(reader.get<std::uint32_t>())];
    const auto num_messages = reader.get<std::uint32_t>();
    for (std::uint32_t j = 0; j < num_messages; ++j) {
      const auto place = reader.get<std::uint32_t>();
      if (place > known.size()) throw ProtocolError("a message that was missed is not there");
      if (place == known.size()) {
        Message message{.kind = reader.get_name(), .round = 0, .arrays = {}};
        message.round = reader.get<std::int64_t>();
        message.arrays = decode_arrays(reader);
        known.push_back(std::make_shared<const Message>(std::move(message)));
      }
      messages.push_back(known[place]);
    }
  }
}
}  // namespace fedhur::federation
