// The server's end of a network: hands tasks to the sites that are connected, takes each client's
// reply once, and goes on without those who miss the deadline. What threads, the clock and the disk
// have to do with that; the rules are those of Exchanges.
#pragma once
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "fedhur/transport/network/exchanges.hpp"
#include "fedhur/transport/network/reply_journal.hpp"

namespace fedhur::transport {
// All threads that call it have left before it goes: close() makes those return that wait.
class Hub : public federation::Federation {
 public:
  // The journal, if any, must outlive this. `first_sequence` is that of the next exchange:
  // exchanges that the journal knows are answered from it.
  Hub(const HubConfig& config, NetworkLog log, ReplyJournal* journal = nullptr,
      Sequence first_sequence = 1);

  [[nodiscard]] Index num_clients() const override { return num_clients_; }
  // FileError if the journal cannot be written, DataError if it is of another run.
  [[nodiscard]] std::vector<federation::Answer> exchange(
      std::span<const federation::Request> requests) override;
  // Returns at once. A client that cannot do it counts as absent from the round.
  void tell(std::span<const federation::Request> requests) override;

  // Until all clients are connected, or a quorum is and the deadline has passed since. False if
  // `should_stop` said so (asked about twice a second).
  [[nodiscard]] bool wait_for_clients(const std::function<bool()>& should_stop);
  // Ends a wait in exchange() or wait_for_clients() with a TransportError; sites are sent away.
  void close(const std::string& reason);
  // Why it was closed; empty while it is open.
  [[nodiscard]] std::string closing() const { return read(&Exchanges::closing); }
  [[nodiscard]] Sequence next_sequence() const { return read(&Exchanges::next_sequence); }
  [[nodiscard]] HubStatus status() const { return read(&Exchanges::status); }
  [[nodiscard]] std::vector<ClientId> take_absentees();  // as Exchanges

  // For carriers.
  using Session = Exchanges::Session;
  // ProtocolError for a client number that the federation does not have.
  [[nodiscard]] Session connect(const std::string& site,
                                const std::vector<ClientProgress>& clients);
  void disconnect(Session session);
  // Blocks until there is a task; nothing when the session has ended or `patience` is over.
  [[nodiscard]] std::optional<Task> next_task(Session session, std::chrono::milliseconds patience);
  // False: nothing will come any more.
  [[nodiscard]] bool is_open(Session session) const { return read(&Exchanges::is_open, session); }
  // Never throws for what a client has done: that is logged and counted.
  void accept(Session session, const Reply& reply);
  void note_progress(Session session, const std::vector<ClientProgress>& clients);

 private:
  template <class Method, class... Arguments>
  [[nodiscard]] std::decay_t<std::invoke_result_t<Method, const Exchanges&, Arguments...>> read(
      Method method, Arguments... arguments) const {
    const std::lock_guard lock(mutex_);
    return std::invoke(method, exchanges_, arguments...);
  }
  [[nodiscard]] Exchanges::Recalled recall(Sequence sequence, Exchanges::Requests requests) const;
  void wait(std::unique_lock<std::mutex>& lock);
  void wake();  // the threads that wait for what has just happened

  Index num_clients_;
  ReplyJournal* journal_;
  mutable std::mutex mutex_;         // of all that follows
  std::condition_variable changed_;  // an answer, a connection, the end
  std::map<Session, std::shared_ptr<std::condition_variable>> stirred_;
  Exchanges exchanges_;
};
}  // namespace fedhur::transport
