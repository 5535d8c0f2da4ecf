#include "fedhur/transport/network/exchanges.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "fedhur/base/error.hpp"

namespace fedhur::transport {
using federation::Answer;
using federation::Request;
namespace {
// "client 3" or "clients 3, 5, 7 and 12 more".
std::string list_of(const std::vector<ClientId>& clients) {
  constexpr std::size_t kMost = 10;
  std::vector<Index> shown;
  for (const ClientId client : clients) shown.push_back(index_of(client));
  shown.resize(std::min(kMost, shown.size()));
  const std::string more =
      clients.size() > kMost ? fmt::format(" and {} more", clients.size() - kMost) : "";
  return fmt::format("client{} {}{}", clients.size() == 1 ? "" : "s", fmt::join(shown, ", "), more);
}

// Words from outside on one line of the log.
std::string one_line(std::string text) {
  constexpr std::size_t kMost = 300;
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  return text;
}
}  // namespace

void Exchanges::ClientState::note(const ClientProgress& reported) {  // reports may overtake others
  progress.received = std::max(progress.received, reported.received);
  progress.answered = std::max(progress.answered, reported.answered);
  forget_answered();
}

void Exchanges::ClientState::forget_answered() {
  std::erase_if(owed, [&](const Owed& task) { return task.sequence <= progress.answered; });
}

void Exchanges::ClientState::owe(const Owed& task) {
  // An absent client needs the newest only.
  std::erase_if(owed, [&](const Owed& older) {
    return (is_absent || !older.is_told) &&
           older.message->message().kind == task.message->message().kind;
  });
  owed.push_back(task);
}

Exchanges::Exchanges(const HubConfig& config, NetworkLog log, Sequence first_sequence)
    : config_(config),
      log_(log ? std::move(log) : [](Severity, const std::string&) {}),
      clients_(static_cast<std::size_t>(config.num_clients)),
      next_sequence_(first_sequence) {
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    clients_[i].progress.client = client_id(static_cast<Index>(i));
  }
}

void Exchanges::expect_open() const {
  if (failure_) std::rethrow_exception(failure_);
}

Exchanges::Exchange Exchanges::make_exchange(Requests requests) {
  expects(!current_, "one exchange at a time");
  expect_open();
  Exchange exchange;
  exchange.sequence = next_sequence_;
  std::map<const message::Message*, std::shared_ptr<Outgoing>> outgoing;
  for (const Request& request : requests) {
    expects(index_of(request.client) < config_.num_clients,
            "the request names a client of this federation");
    auto& message = outgoing[request.message.get()];
    if (!message) message = std::make_shared<Outgoing>(request.message, config_.format);
    const Slot slot{.request = request, .message = message, .answer = {}};
    const bool is_new = exchange.slots.try_emplace(request.client, slot).second;
    expects(is_new, "an exchange asks a client once");
  }
  exchange.counts[static_cast<std::size_t>(Phase::open)] = exchange.asked();
  ++next_sequence_;
  if (requests.empty()) return exchange;
  exchange.kind = requests.front().message->kind;
  exchange.round = round_ = requests.front().message->round;
  return exchange;
}

void Exchanges::tell(Requests requests) {
  const Exchange told = make_exchange(requests);
  for (const auto& [id, slot] : told.slots) {
    ClientState& client = of(id);
    client.owe({told.sequence, slot.message, true});
    // It may have done it already, before a restart of this server.
    client.forget_answered();
    client.idle_reports = 0;
    if (!client.is_absent) deliver(id);
  }
}

void Exchanges::begin(Requests requests, double now, Recalled recalled) {
  current_ = make_exchange(requests);
  current_->is_recalled = recalled.is_ended;
  current_->deadline = now + config_.deadline_seconds;
  for (Answer& answer : recalled.answers) {
    Slot& slot = current_->slots.at(answer.client);
    current_->answer(slot, std::move(answer));
  }
  if (recalled.is_ended) return;
  for (const auto& [id, slot] : current_->slots) {
    if (slot.phase != Phase::open) continue;
    ClientState& client = of(id);
    client.idle_reports = 0;
    if (client.is_absent) {
      client.owe({current_->sequence, slot.message});
    } else {
      deliver(id);
    }
  }
}

Index Exchanges::quorum_of(Index asked) const {
  return config_.quorum > 0 ? std::min(config_.quorum, asked) : asked;
}

// Clients that missed an earlier deadline are waited for only if there are too few without them.
bool Exchanges::is_over(double now) {
  const Exchange& exchange = *current_;
  if (failure_ || exchange.is_recalled) return true;
  if (exchange.num(Phase::checking) > 0) return false;
  if (exchange.num(Phase::open) == 0 || now >= exchange.deadline) return true;
  if (exchange.num(Phase::answered) < quorum_of(exchange.asked())) return false;
  return std::ranges::all_of(exchange.slots, [&](const auto& it) {
    return it.second.phase != Phase::open || of(it.first).is_absent;
  });
}

std::vector<Answer> Exchanges::end() {
  Exchange ended = *std::exchange(current_, std::nullopt);  // from here on replies are late
  expect_open();
  std::vector<Answer> answers;
  std::vector<ClientId> missing;
  std::vector<ClientId> late;
  for (auto& [id, slot] : ended.slots) {
    if (slot.phase == Phase::answered) {
      slot.answer.request_size = slot.message->size();
      answers.push_back(std::move(slot.answer));
      continue;
    }
    missing.push_back(id);
    absentees_.insert(id);
    if (slot.phase == Phase::refused) continue;
    ClientState& client = of(id);
    if (!client.is_absent) late.push_back(id);
    // If this ended before a restart of the server, a client that is connected now is back.
    client.is_absent = !ended.is_recalled || !client.session;
    client.owe({ended.sequence, slot.message});
  }
  if (ended.is_recalled) return answers;  // what had ended had enough
  if (!late.empty()) {
    log_(Severity::warning,
         fmt::format("round {}: no answer to '{}' within {} s from {}", ended.round + 1, ended.kind,
                     config_.deadline_seconds, list_of(late)));
  }
  const Index needed = quorum_of(ended.asked());
  if (std::ssize(answers) >= needed) return answers;
  throw TransportError(fmt::format(
      "round {}: {} of {} clients answered '{}', expected at least {}; missing: {}",
      ended.round + 1, answers.size(), ended.asked(), ended.kind, needed, list_of(missing)));
}

bool Exchanges::is_gathered(double now) {
  expect_open();
  const Index connected = std::ranges::count_if(
      clients_, [](const ClientState& client) { return client.session.has_value(); });
  if (connected < quorum_of(config_.num_clients)) {
    gathering_deadline_ = kNever;
  } else {
    gathering_deadline_ = std::min(gathering_deadline_, now + config_.deadline_seconds);
  }
  return connected == config_.num_clients || now >= gathering_deadline_;
}

Exchanges::Session Exchanges::connect(const std::string& site,
                                      const std::vector<ClientProgress>& clients) {
  for (const ClientProgress& client : clients) {
    if (index_of(client.client) < config_.num_clients) continue;
    throw ProtocolError(fmt::format("there is no client {}: this federation has {}, from 0 on",
                                    index_of(client.client), config_.num_clients));
  }
  const Session session = next_session_++;
  SessionState& state = sessions_[session];
  state.site = site;
  std::vector<ClientId> ids;
  for (const ClientProgress& progress : clients) {
    ClientState& client = of(progress.client);
    if (client.session) {
      sessions_.at(*client.session).clients.erase(progress.client);
      stirred_.insert(*client.session);
    }
    client.session = session;
    client.progress = progress;
    client.forget_answered();
    client.is_absent = false;
    client.handed = 0;  // what was on its way is lost
    client.idle_reports = 0;
    state.clients.insert(progress.client);
    ids.push_back(progress.client);
  }
  for (const ClientId client : ids) deliver(client);
  ++counters_.connections;
  log_(Severity::info, fmt::format("{} connected with {}", site, list_of(ids)));
  return session;
}

void Exchanges::disconnect(Session session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  const SessionState ended = std::move(found->second);
  sessions_.erase(found);
  stirred_.insert(session);
  for (const ClientId client : ended.clients) of(client).session.reset();
  ++counters_.disconnections;
  if (!failure_ && !ended.clients.empty()) {
    log_(Severity::info, fmt::format("{} disconnected", ended.site));
  }
}

bool Exchanges::is_open(Session session) const {
  const auto found = sessions_.find(session);
  return !failure_ && found != sessions_.end() && !found->second.clients.empty();
}

bool Exchanges::hosts(Session session, ClientId client) const {
  const auto found = sessions_.find(session);
  return found != sessions_.end() && found->second.clients.contains(client);
}

Exchanges::Slot* Exchanges::open_slot(ClientId client) {
  if (!current_) return nullptr;
  const auto found = current_->slots.find(client);
  const bool is_open = found != current_->slots.end() && found->second.phase == Phase::open;
  return is_open ? &found->second : nullptr;
}

// What the client has to work on, in order: what it missed, then what it is asked now.
std::vector<Exchanges::Owed> Exchanges::find_owed(ClientId client) {
  std::vector<Owed> owed = of(client).owed;
  if (const Slot* slot = open_slot(client)) {
    std::erase_if(owed, [&](const Owed& missed) {
      return !missed.is_told && missed.message->message().kind == current_->kind;
    });
    owed.push_back({current_->sequence, slot->message});
  }
  return owed;
}

// Whatever of that its session has not been handed yet.
void Exchanges::deliver(ClientId id) {
  ClientState& client = of(id);
  if (!client.session) return;
  Sequence after = 0;
  for (const Owed& task : find_owed(id)) {
    if (task.sequence > client.handed) {
      enqueue(*client.session, id, task, after);
      client.handed = task.sequence;
    }
    if (task.is_told) after = task.sequence;
  }
}

// Clients that are sent the same message share a task.
void Exchanges::enqueue(Session session, ClientId client, const Owed& task, Sequence after) {
  std::deque<Handout>& queue = sessions_.at(session).queue;
  for (Handout& queued : queue) {
    if (queued.task.message != task.message || queued.after != after) continue;
    if (std::ranges::find(queued.clients, client) == queued.clients.end()) {
      queued.clients.push_back(client);
    }
    return;
  }
  const auto later = std::ranges::find_if(
      queue, [&](const Handout& queued) { return queued.task.sequence > task.sequence; });
  queue.insert(later, {task, after, {client}});
  stirred_.insert(session);
}

std::optional<Exchanges::Handout> Exchanges::next_task(Session session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || failure_) return std::nullopt;
  SessionState& state = found->second;
  while (!state.queue.empty()) {
    Handout next = std::move(state.queue.front());
    state.queue.pop_front();
    const Sequence sequence = next.task.sequence;
    std::erase_if(next.clients, [&](ClientId client) {
      // Some have moved to a newer session, or answered another copy of the task.
      const bool is_asked = open_slot(client) != nullptr && current_->sequence == sequence;
      const bool is_wanted = is_asked || of(client).progress.answered < sequence;
      return !state.clients.contains(client) || !is_wanted;
    });
    if (!next.clients.empty()) return next;
  }
  return std::nullopt;
}

void Exchanges::note_sent(std::size_t bytes) {
  ++counters_.tasks;
  counters_.task_bytes += bytes;
}

std::optional<Request> Exchanges::receive(Session session, const Reply& reply) {
  if (!hosts(session, reply.client) || reply.sequence >= next_sequence_) {
    ++counters_.late;
    return std::nullopt;
  }
  if (!reply.problem.empty()) note_problem(reply);
  ClientState& client = of(reply.client);
  client.note({reply.client, reply.sequence, reply.sequence});
  const bool is_current = current_ && reply.sequence == current_->sequence;
  Slot* slot = open_slot(reply.client);
  if (slot == nullptr || !is_current) {
    ++(is_current ? counters_.duplicates : counters_.late);
    if (std::exchange(client.is_absent, false)) deliver(reply.client);  // slow, but not gone
    return std::nullopt;
  }
  current_->set(*slot, Phase::checking);
  return slot->request;
}

// Of a task that the client was told.
void Exchanges::note_problem(const Reply& reply) {
  for (const Owed& task : of(reply.client).owed) {
    if (!task.is_told || task.sequence != reply.sequence) continue;
    absentees_.insert(reply.client);
    ++counters_.refused;
    log_(Severity::warning, fmt::format("round {}: client {} could not do '{}': {}", round_ + 1,
                                        index_of(reply.client), task.message->message().kind,
                                        one_line(reply.problem)));
  }
}

// An exchange does not end while something is being checked, unless the hub is closed.
void Exchanges::accept(Answer answer) {
  if (failure_ || !current_) return;
  of(answer.client).is_absent = false;
  ++counters_.replies;
  counters_.reply_bytes += answer.size;
  Slot& slot = current_->slots.at(answer.client);
  current_->answer(slot, std::move(answer));
}

void Exchanges::refuse(ClientId client, const std::string& problem) {
  if (failure_ || !current_) return;
  of(client).is_absent = false;
  ++counters_.refused;
  current_->set(current_->slots.at(client), Phase::refused);
  log_(Severity::warning, fmt::format("round {}: refused the answer to '{}': {}",
                                      current_->round + 1, current_->kind, one_line(problem)));
}

void Exchanges::note_progress(Session session, const std::vector<ClientProgress>& clients) {
  for (const ClientProgress& reported : clients) {
    if (!hosts(session, reported.client)) continue;
    ClientState& client = of(reported.client);
    client.note(reported);
    const bool is_working = reported.received > reported.answered;
    const auto owed = find_owed(reported.client);
    const bool is_idle = !is_working && (client.is_absent || !owed.empty());
    client.idle_reports = is_idle ? client.idle_reports + 1 : 0;
    if (client.idle_reports < 2) continue;  // the first may have crossed the task or its reply
    client.idle_reports = 0;
    client.is_absent = false;
    client.handed = 0;
    counters_.resent += owed.size();
    deliver(reported.client);
  }
}

std::vector<ClientId> Exchanges::take_absentees() {
  const std::set<ClientId> absentees = std::exchange(absentees_, {});
  return {absentees.begin(), absentees.end()};
}

HubStatus Exchanges::status() const {
  HubStatus status;
  status.round = round_;
  status.sequence = next_sequence_ - 1;
  if (current_) {
    status.kind = current_->kind;
    status.asked = current_->asked();
    status.answered = current_->num(Phase::answered);
  }
  for (const ClientState& client : clients_) {
    if (client.session) status.connected.push_back(client.progress.client);
    if (client.is_absent) status.absent.push_back(client.progress.client);
  }
  status.counters = counters_;
  return status;
}
}  // namespace fedhur::transport
