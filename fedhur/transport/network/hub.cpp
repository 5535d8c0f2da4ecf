#include "fedhur/transport/network/hub.hpp"

#include "fedhur/message/wire_codec.hpp"
#include "fedhur/transport/network/hub_state.hpp"

namespace fedhur::transport {
using federation::Answer;
using federation::Request;
using Clock = std::chrono::steady_clock;
namespace {
Clock::time_point after(double seconds) {
  constexpr double kMost = 1e9;  // thirty years; the clock cannot count much further
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(kMost, std::max(0.0, seconds))));
}

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

// ProtocolError, with the client's name, unless the reply can be used.
Answer read_answer(const Reply& reply, const Request& request) {
  Answer answer{reply.client, {}};
  try {
    if (!reply.problem.empty()) throw ProtocolError(one_line(reply.problem));
    if (!reply.message) throw ProtocolError("sent nothing");
    answer.message = message::decode(*reply.message);
  } catch (const ProtocolError& error) {
    throw ProtocolError(fmt::format("client {}: {}", index_of(reply.client), error.what()));
  }
  federation::check_answer(answer, request);
  return answer;
}
}  // namespace

Hub::State::Recalled Hub::State::recall(Sequence sequence,
                                        std::span<const Request> requests) const {
  Recalled recalled;
  if (journal == nullptr) return recalled;
  const ReplyJournal::Exchange before = journal->take(sequence);
  recalled.is_ended = before.is_ended;
  try {
    for (const Request& request : requests) {
      const auto found = before.replies.find(request.client);
      if (found == before.replies.end()) continue;
      recalled.answers.push_back({.client = request.client,
                                  .message = message::decode(*found->second),
                                  .size = found->second->size()});
      federation::check_answer(recalled.answers.back(), request);
    }
    if (before.is_ended && recalled.answers.size() != before.counted.size()) {
      throw ProtocolError(
          fmt::format("it has {} of {} answers", recalled.answers.size(), before.counted.size()));
    }
  } catch (const ProtocolError& error) {
    throw DataError(fmt::format("the journal of replies does not fit exchange {} of this run: {}",
                                sequence, error.what()));
  }
  return recalled;
}

void Hub::State::expect_clients(std::span<const Request> requests) const {
  for (const Request& request : requests) {
    expects(index_of(request.client) < config.num_clients,
            "the request names a client of this federation");
  }
}

void Hub::State::begin(std::span<const Request> requests, std::vector<Answer> recalled) {
  current.emplace(next_sequence, requests, config.format);
  ++next_sequence;
  if (!requests.empty()) round = current->round();
  for (Answer& answer : recalled) {
    current->set_answer(*current->find(answer.client), std::move(answer.message), answer.size);
  }
}

void Hub::State::hand_out() {
  for (const auto& [client, slot] : current->slots()) {
    if (slot.phase != Phase::open) continue;
    ClientState& state = of(client);
    state.idle_reports = 0;
    if (state.is_absent) {
      state.owe({current->sequence(), slot.message});
    } else {
      deliver(client);
    }
  }
}

void Hub::State::wait_for_answers(std::unique_lock<std::mutex>& lock) {
  const auto deadline = after(config.deadline_seconds);
  while (!failure && !is_complete() &&
         changed.wait_until(lock, deadline) != std::cv_status::timeout) {
  }
  // What has arrived in time is waited for, however long it takes to be looked at.
  changed.wait(lock, [&] { return failure || current->num(Phase::checking) == 0; });
  if (failure) std::rethrow_exception(failure);
}

void Hub::State::note_missing(bool is_recalled) {
  std::vector<ClientId> late;
  for (const ClientId client : current->find_missing()) {
    absentees.insert(client);
    const Slot& slot = *current->find(client);
    if (slot.phase == Phase::refused) continue;
    ClientState& state = of(client);
    if (!state.is_absent) late.push_back(client);
    // Whoever missed the deadline in an earlier life and is connected in this one is back.
    state.is_absent = !is_recalled || !state.session;
    state.owe({current->sequence(), slot.message});
  }
  if (late.empty() || is_recalled) return;
  say(Severity::warning,
      fmt::format("round {}: no answer to '{}' within {} s from {}", current->round() + 1,
                  current->kind(), config.deadline_seconds, list_of(late)));
}

void Hub::State::note_problem(const Reply& reply) {
  for (const Owed& task : of(reply.client).owed) {
    if (!task.is_told || task.sequence != reply.sequence) continue;
    absentees.insert(reply.client);
    ++counters.refused;
    say(Severity::warning,
        fmt::format("round {}: client {} could not do '{}': {}", round + 1, index_of(reply.client),
                    task.message->kind(), one_line(reply.problem)));
  }
}

void Hub::State::expect_quorum() const {
  if (current->num(Phase::answered) >= needed()) return;
  throw TransportError(
      fmt::format("round {}: {} of {} clients answered '{}', expected at least {}; missing: {}",
                  current->round() + 1, current->num(Phase::answered), current->num_asked(),
                  current->kind(), needed(), list_of(current->find_missing())));
}

Hub::Hub(const HubConfig& config, NetworkLog log, ReplyJournal* journal, Sequence first_sequence)
    : config_(config), state_(std::make_unique<State>()) {
  state_->config = config;
  state_->log = std::move(log);
  state_->journal = journal;
  state_->next_sequence = first_sequence;
  state_->clients.resize(static_cast<std::size_t>(config.num_clients));
  for (Index client = 0; client < config.num_clients; ++client) {
    state_->of(client_id(client)).progress.client = client_id(client);
  }
}
Hub::~Hub() = default;

void Hub::tell(std::span<const Request> requests) {
  State& state = *state_;
  state.expect_clients(requests);
  if (state.journal != nullptr) state.journal->sync();
  const std::lock_guard lock(state.mutex);
  expects(!state.current, "one exchange at a time");
  if (state.failure) std::rethrow_exception(state.failure);
  const ExchangeState told(state.next_sequence, requests, config_.format);
  ++state.next_sequence;
  if (!requests.empty()) state.round = told.round();
  for (const auto& [client, slot] : told.slots()) {
    State::ClientState& of_client = state.of(client);
    of_client.owe({told.sequence(), slot.message, true});
    // It may have heard it already, from an earlier life of this server.
    of_client.forget_answered();
    of_client.idle_reports = 0;
    if (!of_client.is_absent) state.deliver(client);
  }
}

std::vector<Answer> Hub::exchange(std::span<const Request> requests) {
  State& state = *state_;
  state.expect_clients(requests);
  const Sequence sequence = next_sequence();
  // Not under the lock: what is decoded may be large, and the disk slow.
  State::Recalled recalled = state.recall(sequence, requests);
  if (state.journal != nullptr) state.journal->sync();
  std::unique_lock lock(state.mutex);
  expects(!state.current && state.next_sequence == sequence, "one exchange at a time");
  if (state.failure) std::rethrow_exception(state.failure);
  state.begin(requests, std::move(recalled.answers));
  try {
    if (!recalled.is_ended) {
      state.hand_out();
      state.wait_for_answers(lock);
    }
    state.note_missing(recalled.is_ended);
    if (!recalled.is_ended) state.expect_quorum();  // what had ended had enough
  } catch (...) {
    state.current.reset();
    throw;
  }
  std::vector<Answer> answers = state.current->take_answers();
  state.current.reset();  // from here on replies are late
  lock.unlock();
  if (state.journal != nullptr && !recalled.is_ended) {
    state.journal->end(sequence, federation::clients_of(answers));
  }
  return answers;
}

bool Hub::wait_for_clients(const std::function<bool()>& should_stop) {
  State& state = *state_;
  const Index quorum = config_.quorum > 0 ? config_.quorum : config_.num_clients;
  std::optional<Clock::time_point> deadline;
  for (;;) {
    if (should_stop && should_stop()) return false;
    std::unique_lock lock(state.mutex);
    if (state.failure) std::rethrow_exception(state.failure);
    const Index connected = std::ranges::count_if(
        state.clients, [](const auto& client) { return client.session.has_value(); });
    if (connected == config_.num_clients) return true;
    if (connected < quorum) deadline.reset();
    if (connected >= quorum && !deadline) deadline = after(config_.deadline_seconds);
    if (deadline && Clock::now() >= *deadline) return true;
    const auto poll = after(0.5);
    (void)state.changed.wait_until(lock, deadline ? std::min(*deadline, poll) : poll);
  }
}

void Hub::close(const std::string& reason) {
  const std::lock_guard lock(state_->mutex);
  state_->close(TransportError(reason));
}

std::string Hub::closing() const {
  const std::lock_guard lock(state_->mutex);
  return state_->closing;
}

Sequence Hub::next_sequence() const {
  const std::lock_guard lock(state_->mutex);
  return state_->next_sequence;
}

std::vector<ClientId> Hub::take_absentees() {
  const std::lock_guard lock(state_->mutex);
  const std::set<ClientId> absentees = std::exchange(state_->absentees, {});
  return {absentees.begin(), absentees.end()};
}

HubStatus Hub::status() const {
  const std::lock_guard lock(state_->mutex);
  HubStatus status;
  status.round = state_->round;
  status.sequence = state_->next_sequence - 1;
  if (const auto& current = state_->current) {
    status.kind = current->kind();
    status.asked = current->num_asked();
    status.answered = current->num(ExchangeState::Phase::answered);
  }
  for (const auto& client : state_->clients) {
    if (client.session) status.connected.push_back(client.progress.client);
    if (client.is_absent) status.absent.push_back(client.progress.client);
  }
  status.counters = state_->counters;
  return status;
}

Hub::Session Hub::connect(const std::string& site, const std::vector<ClientProgress>& clients) {
  State& state = *state_;
  for (const ClientProgress& client : clients) {
    if (index_of(client.client) < config_.num_clients) continue;
    throw ProtocolError(fmt::format("there is no client {}: this federation has {}, from 0 on",
                                    index_of(client.client), config_.num_clients));
  }
  const std::lock_guard lock(state.mutex);
  const Session id = state.next_session++;
  auto session = std::make_shared<State::SessionState>();
  session->site = site;
  state.sessions[id] = session;
  std::vector<ClientId> ids;
  for (const ClientProgress& progress : clients) {
    State::ClientState& client = state.of(progress.client);
    if (auto* older = state.find(client.session)) {
      older->clients.erase(progress.client);
      older->has_task.notify_all();
    }
    client.session = id;
    client.progress = progress;
    client.forget_answered();
    client.is_absent = false;
    client.handed = 0;  // what was on its way is lost
    client.idle_reports = 0;
    session->clients.insert(progress.client);
    ids.push_back(progress.client);
  }
  for (const ClientId client : ids) state.deliver(client);
  ++state.counters.connections;
  state.say(Severity::info, fmt::format("{} connected with {}", site, list_of(ids)));
  state.changed.notify_all();
  return id;
}

void Hub::disconnect(Session id) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  const auto found = state.sessions.find(id);
  if (found == state.sessions.end()) return;
  const std::shared_ptr<State::SessionState> session = found->second;
  for (const ClientId client : session->clients) state.of(client).session.reset();
  state.sessions.erase(found);
  session->has_task.notify_all();
  ++state.counters.disconnections;
  if (!state.failure && !session->clients.empty()) {
    state.say(Severity::info, fmt::format("{} disconnected", session->site));
  }
  state.changed.notify_all();
}

bool Hub::is_open(Session id) const {
  const std::lock_guard lock(state_->mutex);
  const auto* session = state_->find(id);
  return !state_->failure && session != nullptr && !session->clients.empty();
}

std::optional<Task> Hub::next_task(Session id, std::chrono::milliseconds patience) {
  State& state = *state_;
  const auto deadline = after(std::chrono::duration<double>(patience).count());
  std::unique_lock lock(state.mutex);
  const auto found = state.sessions.find(id);
  if (found == state.sessions.end()) return std::nullopt;
  const std::shared_ptr<State::SessionState> session = found->second;
  State::QueuedTask next;
  while (next.clients.empty()) {
    (void)session->has_task.wait_until(lock, deadline, [&] {
      return !session->queue.empty() || session->clients.empty() || state.failure ||
             !state.sessions.contains(id);
    });
    if (session->queue.empty() || state.failure) return std::nullopt;
    next = std::move(session->queue.front());
    session->queue.pop_front();
    std::erase_if(next.clients, [&](ClientId client) {  // some have moved to a newer session
      return !session->clients.contains(client) || !state.is_wanted(next.task.sequence, client);
    });
  }
  lock.unlock();
  const Bytes bytes = next.task.message->bytes();
  lock.lock();
  ++state.counters.tasks;
  state.counters.task_bytes += bytes->size();
  return Task{.sequence = next.task.sequence,
              .clients = std::move(next.clients),
              .message = bytes,
              .after = next.after,
              .is_told = next.task.is_told};
}

void Hub::accept(Session id, const Reply& reply) {
  using Phase = ExchangeState::Phase;
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  const auto* session = state.find(id);
  if (session == nullptr || !session->clients.contains(reply.client) ||
      reply.sequence >= state.next_sequence) {
    ++state.counters.late;
    return;
  }
  State::ClientState& client = state.of(reply.client);
  if (!reply.problem.empty()) state.note_problem(reply);
  client.note({reply.client, reply.sequence, reply.sequence});
  auto* slot = state.open_slot(reply.client);
  if (slot == nullptr || reply.sequence != state.current->sequence()) {
    const bool is_current = state.current && reply.sequence == state.current->sequence();
    ++(is_current ? state.counters.duplicates : state.counters.late);
    if (std::exchange(client.is_absent, false)) state.deliver(reply.client);  // slow, but not gone
    return;
  }
  state.current->set_phase(*slot, Phase::checking);
  const Request request = slot->request;
  lock.unlock();

  Answer answer{reply.client, {}};
  std::string problem;
  std::optional<FileError> disk_failure;
  try {
    answer = read_answer(reply, request);
    if (state.journal != nullptr) {
      state.journal->add(reply.sequence, reply.client, *reply.message);
    }
  } catch (const FileError& error) {  // a full disk ends the run, it does not blame the client
    disk_failure = error;
  } catch (const ProtocolError& error) {
    problem = error.what();
  } catch (const std::exception& error) {  // a mistake of ours; the exchange waits for this slot
    problem = fmt::format("client {}: {}", index_of(reply.client), error.what());
  }

  lock.lock();
  if (disk_failure) state.close(*disk_failure);
  // An exchange does not end while something is being checked, unless the hub is closed.
  if (state.failure || !state.current) return;
  slot = state.current->find(reply.client);
  client.is_absent = false;
  if (problem.empty()) {
    state.current->set_answer(*slot, std::move(answer.message), reply.message->size());
    ++state.counters.replies;
    state.counters.reply_bytes += reply.message->size();
  } else {
    state.refuse(*slot, problem);
  }
  state.changed.notify_all();
}

void Hub::note_progress(Session id, const std::vector<ClientProgress>& clients) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  const auto* session = state.find(id);
  if (session == nullptr) return;
  for (const ClientProgress& reported : clients) {
    if (!session->clients.contains(reported.client)) continue;
    State::ClientState& client = state.of(reported.client);
    client.note(reported);
    const bool is_working = reported.received > reported.answered;
    const auto owed = state.find_owed(reported.client);
    const bool is_idle = !is_working && (client.is_absent || !owed.empty());
    client.idle_reports = is_idle ? client.idle_reports + 1 : 0;
    if (client.idle_reports < 2) continue;  // the first may have crossed the task or its reply
    client.idle_reports = 0;
    client.is_absent = false;
    client.handed = 0;
    state.counters.resent += owed.size();
    state.deliver(reported.client);
  }
}
}  // namespace fedhur::transport
