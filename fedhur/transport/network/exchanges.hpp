// The rules of a hub: who is asked and told what, whose answer counts, and what a client still has
// to hear. Events come in, and what follows from them can be read: no thread, lock, clock or disk.
#pragma once
#include <array>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fedhur/federation/federation.hpp"
#include "fedhur/transport/network/task.hpp"

namespace fedhur::transport {
struct HubConfig {
  Index num_clients = 0;
  Index quorum = 0;                 // fewest answers of an exchange that asks all; 0: all of them
  double deadline_seconds = 600;    // for the answers of an exchange
  message::WireFormat format = {};  // of the messages that go out
};

enum class Severity : std::uint8_t { detail, info, warning };
// Told from any thread; must not call the hub.
using NetworkLog = std::function<void(Severity severity, const std::string& message)>;

// What a person or a monitor wants to know.
struct HubStatus {
  Round round = 0;
  std::string kind;  // of the exchange that is under way; empty between two
  Sequence sequence = 0;
  Index asked = 0;
  Index answered = 0;
  std::vector<ClientId> connected;
  std::vector<ClientId> absent;  // have missed a deadline and not come back
  struct Counters {
    std::uint64_t tasks = 0, task_bytes = 0;     // handed to sites, resent ones included
    std::uint64_t replies = 0, reply_bytes = 0;  // accepted
    std::uint64_t duplicates = 0, late = 0, refused = 0;
    std::uint64_t connections = 0, disconnections = 0, resent = 0;
  } counters;
};

class Exchanges {
 public:
  using Session = std::uint64_t;  // one connection of one site
  using Requests = std::span<const federation::Request>;
  struct Owed {  // what a client has to work on
    Sequence sequence = 0;
    std::shared_ptr<Outgoing> message;
    bool is_told = false;
  };
  struct Handout {  // the same for some clients of a site; see Task
    Owed task;
    Sequence after = 0;
    std::vector<ClientId> clients;
  };
  // What the server had heard before a restart; all that counted, if the exchange had ended.
  struct Recalled {
    std::vector<federation::Answer> answers;
    bool is_ended = false;
  };

  Exchanges(const HubConfig& config, NetworkLog log, Sequence first_sequence = 1);

  // Events at the server, which fail once it is closed. `now` is in seconds, of any clock.
  // std::logic_error unless requests are of clients of this federation, of each at most one.
  void tell(Requests requests);
  void begin(Requests requests, double now, Recalled recalled);
  // Whether all have answered who are waited for, or the deadline has passed. Not while an answer
  // is being looked at.
  [[nodiscard]] bool is_over(double now);
  // The answers, with which the exchange ends. TransportError below the quorum.
  [[nodiscard]] std::vector<federation::Answer> end();
  // Whether all clients are connected, or a quorum is and the deadline has passed since.
  [[nodiscard]] bool is_gathered(double now);
  // When the time alone may make a difference to is_over() or is_gathered(), at the earliest.
  [[nodiscard]] double deadline() const {
    return current_ ? current_->deadline : gathering_deadline_;
  }
  template <class Failure>
  void close(const Failure& why) {
    if (failure_) return;  // the first reason counts
    closing_ = *why.what() != '\0' ? why.what() : "closed";
    failure_ = std::make_exception_ptr(why);
    for (const auto& [session, state] : sessions_) stirred_.insert(session);
  }

  // Events at the sites. ProtocolError for a client that the federation does not have.
  [[nodiscard]] Session connect(const std::string& site,
                                const std::vector<ClientProgress>& clients);
  void disconnect(Session session);
  // What a site says of itself; tasks that were lost on the way are handed out again.
  void note_progress(Session session, const std::vector<ClientProgress>& clients);
  // What the session's site is to work on next.
  [[nodiscard]] std::optional<Handout> next_task(Session session);
  void note_sent(std::size_t bytes);
  // The request that the reply has to answer; nothing if the reply does not count. The exchange
  // then waits for one of the other two.
  [[nodiscard]] std::optional<federation::Request> receive(Session session, const Reply& reply);
  void accept(federation::Answer answer);
  void refuse(ClientId client, const std::string& problem);

  [[nodiscard]] bool is_open(Session session) const;  // false: nothing will come any more
  // Sessions for which next_task() or is_open() may say something else than before; once.
  [[nodiscard]] std::set<Session> take_stirred() { return std::exchange(stirred_, {}); }
  [[nodiscard]] const std::string& closing() const { return closing_; }  // empty while it is open
  [[nodiscard]] Sequence next_sequence() const { return next_sequence_; }
  // Who was missing from at least one exchange since the last call.
  [[nodiscard]] std::vector<ClientId> take_absentees();
  [[nodiscard]] HubStatus status() const;

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  // What is expected of one client of an exchange.
  enum class Phase : std::uint8_t { open, checking, answered, refused };
  struct Slot {
    federation::Request request;
    std::shared_ptr<Outgoing> message;
    Phase phase = Phase::open;  // changed through set(), which counts
    federation::Answer answer;
  };
  struct Exchange {
    Sequence sequence = 0;
    Round round = 0;
    std::string kind;
    double deadline = kNever;
    std::map<ClientId, Slot> slots;
    std::array<Index, 4> counts = {};  // by phase: asked for after every reply
    bool is_recalled = false;          // it had ended before a restart

    [[nodiscard]] Index asked() const { return static_cast<Index>(slots.size()); }
    [[nodiscard]] Index num(Phase phase) const { return counts[static_cast<std::size_t>(phase)]; }
    void set(Slot& slot, Phase phase) {
      --counts[static_cast<std::size_t>(slot.phase)];
      ++counts[static_cast<std::size_t>(phase)];
      slot.phase = phase;
    }
    void answer(Slot& slot, federation::Answer answer) {
      slot.answer = std::move(answer);
      set(slot, Phase::answered);
    }
  };
  struct SessionState {
    std::string site;
    std::set<ClientId> clients;
    std::deque<Handout> queue;  // ascending: a client works on what it missed first
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

    void note(const ClientProgress& reported);
    void forget_answered();
    void owe(const Owed& task);
  };

  void expect_open() const;
  [[nodiscard]] Exchange make_exchange(Requests requests);
  [[nodiscard]] ClientState& of(ClientId client) {
    return clients_[static_cast<std::size_t>(client)];
  }
  [[nodiscard]] bool hosts(Session session, ClientId client) const;
  [[nodiscard]] Slot* open_slot(ClientId client);
  [[nodiscard]] std::vector<Owed> find_owed(ClientId client);
  void deliver(ClientId client);
  void enqueue(Session session, ClientId client, const Owed& task, Sequence after);
  [[nodiscard]] Index quorum_of(Index asked) const;
  void note_problem(const Reply& reply);

  HubConfig config_;
  NetworkLog log_;
  std::vector<ClientState> clients_;
  std::map<Session, SessionState> sessions_;
  std::set<Session> stirred_;
  std::optional<Exchange> current_;
  Sequence next_sequence_;
  Session next_session_ = 1;
  Round round_ = 0;
  double gathering_deadline_ = kNever;
  std::set<ClientId> absentees_;
  std::string closing_;
  std::exception_ptr failure_;
  HubStatus::Counters counters_;
};
}  // namespace fedhur::transport
