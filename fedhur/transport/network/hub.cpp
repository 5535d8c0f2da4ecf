#include "fedhur/transport/network/hub.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"

namespace fedhur::transport {
using federation::Answer;
using federation::Request;
using Seconds = std::chrono::duration<double>;
namespace {
double now() { return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// ProtocolError, with the client's name, unless the reply can be used.
Answer read_answer(const Reply& reply, const Request& request) {
  Answer answer{.client = reply.client, .message = {}};
  try {
    if (!reply.problem.empty()) throw ProtocolError(reply.problem);
    if (!reply.message) throw ProtocolError("sent nothing");
    answer.message = message::decode(*reply.message);
  } catch (const ProtocolError& error) {
    throw ProtocolError(fmt::format("client {}: {}", index_of(reply.client), error.what()));
  }
  federation::check_answer(answer, request);
  answer.size = reply.message->size();
  return answer;
}
// What went wrong, if anything did: a sum that has part of an answer is no sum, so the run ends.
std::string try_take_out(Answer& answer, const Request& request) {
  try {
    federation::take_out(answer, request);
    return {};
  } catch (const std::exception& error) {
    return fmt::format("the answer of client {} could not be added up: {}", index_of(answer.client),
                       error.what());
  }
}
}  // namespace

Hub::Hub(const HubConfig& config, NetworkLog log, ReplyJournal* journal, Sequence first_sequence)
    : num_clients_(config.num_clients),
      journal_(journal),
      exchanges_(config, std::move(log), first_sequence) {}

Exchanges::Recalled Hub::recall(Sequence sequence, Exchanges::Requests requests) const {
  Exchanges::Recalled recalled;
  if (journal_ == nullptr) return recalled;
  const ReplyJournal::Exchange before = journal_->take(sequence);
  recalled.is_ended = before.is_ended;
  try {
    for (const Request& request : requests) {
      const auto found = before.replies.find(request.client);
      if (found == before.replies.end()) continue;
      Answer answer = read_answer({.client = request.client, .message = found->second}, request);
      federation::take_out(answer, request);
      recalled.answers.push_back(std::move(answer));
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

std::vector<Answer> Hub::exchange(std::span<const Request> requests) {
  const Sequence sequence = next_sequence();
  // Not under the lock: what is decoded may be large, and the disk slow.
  Exchanges::Recalled recalled = recall(sequence, requests);
  const bool is_ended = recalled.is_ended;
  if (journal_ != nullptr) journal_->sync();
  std::unique_lock lock(mutex_);
  exchanges_.begin(requests, now(), std::move(recalled));
  wake();
  while (!exchanges_.is_over(now())) wait(lock);
  std::vector<Answer> answers = exchanges_.end();
  lock.unlock();
  if (journal_ != nullptr && !is_ended) journal_->end(sequence, federation::clients_of(answers));
  return answers;
}

void Hub::tell(std::span<const Request> requests) {
  if (journal_ != nullptr) journal_->sync();
  const std::lock_guard lock(mutex_);
  exchanges_.tell(requests);
  wake();
}

bool Hub::wait_for_clients(const std::function<bool()>& should_stop) {
  for (;;) {
    if (should_stop && should_stop()) return false;
    std::unique_lock lock(mutex_);
    if (exchanges_.is_gathered(now())) return true;
    wait(lock);
  }
}

// For half a second at most.
void Hub::wait(std::unique_lock<std::mutex>& lock) {
  constexpr double kLongest = 0.5;
  const double rest = exchanges_.deadline() - now();
  (void)changed_.wait_for(lock, Seconds(rest > 0 ? std::min(rest, kLongest) : kLongest));
}

void Hub::wake() {
  changed_.notify_all();
  for (const Session session : exchanges_.take_stirred()) {
    const auto found = stirred_.find(session);
    if (found != stirred_.end()) found->second->notify_all();
  }
}

void Hub::close(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  exchanges_.close(TransportError(reason));
  wake();
}

std::vector<ClientId> Hub::take_absentees() {
  const std::lock_guard lock(mutex_);
  return exchanges_.take_absentees();
}

Hub::Session Hub::connect(const std::string& site, const std::vector<ClientProgress>& clients) {
  const std::lock_guard lock(mutex_);
  const Session session = exchanges_.connect(site, clients);
  stirred_[session] = std::make_shared<std::condition_variable>();
  wake();
  return session;
}

void Hub::disconnect(Session session) {
  const std::lock_guard lock(mutex_);
  exchanges_.disconnect(session);
  wake();
  stirred_.erase(session);
}

std::optional<Task> Hub::next_task(Session session, std::chrono::milliseconds patience) {
  constexpr double kYears = 1e9;  // the clock cannot count much further
  const double end = now() + std::min(Seconds(patience).count(), kYears);
  std::unique_lock lock(mutex_);
  const auto found = stirred_.find(session);
  if (found == stirred_.end()) return std::nullopt;
  const auto stirred = found->second;  // outlives the session while a thread waits
  std::optional<Exchanges::Handout> next = exchanges_.next_task(session);
  for (double time = now(); !next && exchanges_.is_open(session) && time < end; time = now()) {
    (void)stirred->wait_for(lock, Seconds(end - time));
    next = exchanges_.next_task(session);
  }
  if (!next) return std::nullopt;
  lock.unlock();
  const Bytes bytes = next->task.message->bytes();
  lock.lock();
  exchanges_.note_sent(bytes->size());
  return Task{.sequence = next->task.sequence,
              .clients = std::move(next->clients),
              .message = bytes,
              .after = next->after,
              .is_told = next->task.is_told,
              .digest = next->task.message->digest()};
}

void Hub::accept(Session session, const Reply& reply) {
  std::unique_lock lock(mutex_);
  const std::optional<Request> request = exchanges_.receive(session, reply);
  if (!request) return wake();
  lock.unlock();
  Answer answer;
  std::string problem;
  std::optional<FileError> disk_failure;
  try {
    answer = read_answer(reply, *request);
    if (journal_ != nullptr) journal_->add(reply.sequence, reply.client, *reply.message);
  } catch (const FileError& error) {  // a full disk ends the run, it does not blame the client
    disk_failure = error;
  } catch (const ProtocolError& error) {
    problem = error.what();
  } catch (const std::exception& error) {  // a mistake of ours; the exchange waits for this slot
    problem = fmt::format("client {}: {}", index_of(reply.client), error.what());
  }
  const std::string failure =
      disk_failure || !problem.empty() ? "" : try_take_out(answer, *request);
  lock.lock();
  if (disk_failure) {
    exchanges_.close(*disk_failure);
  } else if (!failure.empty()) {
    exchanges_.close(TransportError(failure));
  } else if (problem.empty()) {
    exchanges_.accept(std::move(answer));
  } else {
    exchanges_.refuse(reply.client, problem);
  }
  wake();
}

void Hub::note_progress(Session session, const std::vector<ClientProgress>& clients) {
  const std::lock_guard lock(mutex_);
  exchanges_.note_progress(session, clients);
  wake();
}
}  // namespace fedhur::transport
