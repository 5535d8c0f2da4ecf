// What a hub remembers, and its rules. Whoever calls holds the mutex, but for recall().
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <set>

#include "fedhur/transport/network/exchange_state.hpp"
#include "fedhur/transport/network/hub.hpp"

namespace fedhur::transport {
struct Hub::State {
  using Clock = std::chrono::steady_clock;
  using Phase = ExchangeState::Phase;
  using Slot = ExchangeState::Slot;

  // What a client has to work on.
  struct Owed {
    Sequence sequence = 0;
    std::shared_ptr<Outgoing> message;
    bool is_told = false;
  };

  struct QueuedTask {
    Owed task;
    Sequence after = 0;
    std::vector<ClientId> clients;
  };

  struct SessionState {
    std::string site;
    std::set<ClientId> clients;
    std::deque<QueuedTask> queue;  // ascending: a client works on what it missed first
    std::condition_variable has_task;

    // Clients that are sent the same message share a task.
    void enqueue(ClientId client, const Owed& task, Sequence after) {
      for (QueuedTask& queued : queue) {
        if (queued.task.message != task.message || queued.after != after) continue;
        if (std::ranges::find(queued.clients, client) == queued.clients.end()) {
          queued.clients.push_back(client);
        }
        return;
      }
      const auto later = std::ranges::find_if(
          queue, [&](const QueuedTask& queued) { return queued.task.sequence > task.sequence; });
      queue.insert(later, {task, after, {client}});
      has_task.notify_all();
    }
  };

  struct ClientState {
    std::optional<Session> session;
    bool is_absent = false;  // has missed a deadline and not been heard of since
    ClientProgress progress;
    Sequence handed = 0;   // the newest task that was put into its session's queue
    int idle_reports = 0;  // in a row, that show no sign of the tasks it was handed
    // In order: what it was told, and the newest of each kind that it missed, which is what it
    // needs to catch up with the others. Kept until it has, since a task may be lost on its way.
    std::vector<Owed> owed;

    void note(const ClientProgress& reported) {  // reports may overtake each other
      progress.received = std::max(progress.received, reported.received);
      progress.answered = std::max(progress.answered, reported.answered);
      forget_answered();
    }
    void forget_answered() {
      std::erase_if(owed, [&](const Owed& task) { return task.sequence <= progress.answered; });
    }
    void owe(const Owed& task) {
      // Whoever is away will need the newest only.
      std::erase_if(owed, [&](const Owed& older) {
        return (is_absent || !older.is_told) && older.message->kind() == task.message->kind();
      });
      owed.push_back(task);
    }
  };

  HubConfig config;
  NetworkLog log;
  ReplyJournal* journal = nullptr;
  mutable std::mutex mutex;
  std::condition_variable changed;  // an answer, a connection, the end
  std::vector<ClientState> clients;
  std::map<Session, std::shared_ptr<SessionState>> sessions;
  std::optional<ExchangeState> current;
  Sequence next_sequence = 1;
  Session next_session = 1;
  Round round = 0;
  std::set<ClientId> absentees;
  std::string closing;         // why it is closed; empty while it is open
  std::exception_ptr failure;  // the same for those who wait
  HubStatus::Counters counters;

  void say(Severity severity, const std::string& message) const {
    if (log) log(severity, message);
  }
  [[nodiscard]] ClientState& of(ClientId client) {
    return clients[static_cast<std::size_t>(client)];
  }
  [[nodiscard]] SessionState* find(std::optional<Session> session) {
    if (!session) return nullptr;
    const auto found = sessions.find(*session);
    return found == sessions.end() ? nullptr : found->second.get();
  }
  [[nodiscard]] Slot* open_slot(ClientId client) {
    Slot* slot = current ? current->find(client) : nullptr;
    return slot != nullptr && slot->phase == Phase::open ? slot : nullptr;
  }

  template <class Failure>
  void close(const Failure& why) {
    if (failure) return;  // the first reason counts
    closing = *why.what() != '\0' ? why.what() : "closed";
    failure = std::make_exception_ptr(why);
    changed.notify_all();
    for (auto& [id, session] : sessions) session->has_task.notify_all();
  }

  // What the client has to work on, in order: what it missed, then what it is asked now.
  [[nodiscard]] std::vector<Owed> find_owed(ClientId client) {
    std::vector<Owed> owed = of(client).owed;
    if (const Slot* slot = open_slot(client)) {
      std::erase_if(owed, [&](const Owed& missed) {
        return !missed.is_told && missed.message->kind() == current->kind();
      });
      owed.push_back({current->sequence(), slot->message});
    }
    return owed;
  }

  // Whatever of that its session has not been handed yet.
  void deliver(ClientId client) {
    ClientState& state = of(client);
    SessionState* session = find(state.session);
    if (session == nullptr) return;
    Sequence after = 0;
    for (const Owed& task : find_owed(client)) {
      if (task.sequence > state.handed) {
        session->enqueue(client, task, after);
        state.handed = task.sequence;
      }
      if (task.is_told) after = task.sequence;
    }
  }

  // A task in a queue may have been answered meanwhile, through another copy of it.
  [[nodiscard]] bool is_wanted(Sequence sequence, ClientId client) {
    return of(client).progress.answered < sequence ||
           (open_slot(client) != nullptr && current->sequence() == sequence);
  }

  // What an earlier life of this server has heard; all that counted, if the exchange had ended.
  struct Recalled {
    std::vector<federation::Answer> answers;
    bool is_ended = false;
  };
  [[nodiscard]] Recalled recall(Sequence sequence,
                                std::span<const federation::Request> requests) const;
  void expect_clients(std::span<const federation::Request> requests) const;
  void begin(std::span<const federation::Request> requests,
             std::vector<federation::Answer> recalled);
  void hand_out();

  [[nodiscard]] Index needed() const {
    return config.quorum > 0 ? std::min(config.quorum, current->num_asked()) : current->num_asked();
  }
  // Everybody who is waited for has been heard. Whoever missed an earlier deadline is not waited
  // for, unless without them there are too few.
  [[nodiscard]] bool is_complete() {
    if (current->num(Phase::checking) > 0) return false;
    if (current->num(Phase::open) == 0) return true;
    if (current->num(Phase::answered) < needed()) return false;
    return std::ranges::all_of(current->slots(), [&](const auto& it) {
      return it.second.phase != Phase::open || of(it.first).is_absent;
    });
  }
  void wait_for_answers(std::unique_lock<std::mutex>& lock);
  void note_missing(bool is_recalled);
  // Of a task that the client was told.
  void note_problem(const Reply& reply);
  void expect_quorum() const;

  void refuse(Slot& slot, const std::string& problem) {
    current->set_phase(slot, Phase::refused);
    ++counters.refused;
    say(Severity::warning, fmt::format("round {}: refused the answer to '{}': {}",
                                       current->round() + 1, current->kind(), problem));
  }
};
}  // namespace fedhur::transport
