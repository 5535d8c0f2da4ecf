// The server's end of a network: hands tasks to the sites that are connected, takes each client's
// reply once, and goes on without those who miss the deadline.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/federation/federation.hpp"
#include "fedhur/message/wire_format.hpp"
#include "fedhur/transport/network/reply_journal.hpp"
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

// All threads that call it have left before it goes: close() makes those return that wait.
class Hub : public federation::Federation {
 public:
  // The journal, if any, must outlive this. `first_sequence` is that of the next exchange:
  // exchanges that the journal knows are answered from it.
  Hub(const HubConfig& config, NetworkLog log, ReplyJournal* journal = nullptr,
      Sequence first_sequence = 1);
  ~Hub() override;

  [[nodiscard]] Index num_clients() const override { return config_.num_clients; }
  // FileError if the journal cannot be written, DataError if it is of another run.
  [[nodiscard]] std::vector<federation::Answer> exchange(
      std::span<const federation::Request> requests) override;
  // Returns at once. Whoever cannot do it counts as absent from the round.
  void tell(std::span<const federation::Request> requests) override;

  // Until all clients are connected, or a quorum is and the deadline has passed since. False if
  // `should_stop` said so (asked about twice a second).
  [[nodiscard]] bool wait_for_clients(const std::function<bool()>& should_stop);
  // Ends a wait in exchange() or wait_for_clients() with a TransportError; sites are sent away.
  void close(const std::string& reason);
  [[nodiscard]] std::string closing() const;  // why it was closed; empty while it is open
  [[nodiscard]] Sequence next_sequence() const;
  // Who was missing from at least one exchange since the last call.
  [[nodiscard]] std::vector<ClientId> take_absentees();
  [[nodiscard]] HubStatus status() const;

  // For carriers. A session is one connection of one site; a client that connects again leaves its
  // older session.
  using Session = std::uint64_t;
  // ProtocolError for a client number that the federation does not have.
  [[nodiscard]] Session connect(const std::string& site,
                                const std::vector<ClientProgress>& clients);
  void disconnect(Session session);
  // Blocks until there is a task; nothing when the session has ended or `patience` is over.
  [[nodiscard]] std::optional<Task> next_task(Session session, std::chrono::milliseconds patience);
  [[nodiscard]] bool is_open(Session session) const;  // false: nothing will come any more
  // Never throws for what a client has done: that is logged and counted.
  void accept(Session session, const Reply& reply);
  // What the site says of itself; tasks that were lost on the way are sent again.
  void note_progress(Session session, const std::vector<ClientProgress>& clients);

 private:
  struct State;
  HubConfig config_;
  std::unique_ptr<State> state_;
};
}  // namespace fedhur::transport
