// A client's end of a network: one or many clients in one process, who answer each task once.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "fedhur/base/parallel.hpp"
#include "fedhur/federation/client_method.hpp"
#include "fedhur/message/wire_format.hpp"
#include "fedhur/transport/network/task.hpp"

namespace fedhur::transport {
// Where a site notes what it does, so that it can go on after a crash.
class TaskJournal {
 public:
  virtual ~TaskJournal() = default;
  // Before the first task of a round: nothing is half done, now is the time to save.
  virtual void begin_round(Round round) = 0;
  // Before the task is worked on.
  virtual void append(const Task& task) = 0;
  // Before a reply leaves: what was noted must be on disk when this returns. From any thread.
  virtual void sync() = 0;
};

struct HostedClient {
  ClientId id{};
  federation::ClientMethod* method = nullptr;
  Sequence answered = 0;  // the newest task that its present state has seen
};

class Site {
 public:
  // Clients, executor and journal (if any) must outlive this.
  Site(const std::vector<HostedClient>& clients, const Executor& executor,
       const message::WireFormat& format, TaskJournal* journal = nullptr);

  // Works on tasks and gives each reply to `send`, from several threads at once. A task that was
  // answered before is answered with the same bytes; an older one is passed over, and so is one
  // whose predecessor is missing. One call at a time. A reply that cannot be sent is asked for
  // again; what `send` throws ends the work.
  using Send = std::function<void(Reply reply)>;
  void work(std::span<const Task> tasks, const Send& send);

  // What the server may rely on, whatever happens to this process: what its clients were told is
  // settled first. From any thread.
  [[nodiscard]] std::vector<ClientProgress> progress();
  // The newest task that the state of each client has seen, while none is being worked on.
  [[nodiscard]] std::vector<Sequence> seen() const;
  // A carrier notes here what has begun to arrive.
  void note_arrival(Sequence sequence, std::span<const ClientId> clients);

 private:
  struct Hosted {
    HostedClient client;
    ClientProgress progress;
    Sequence told = 0;  // the newest task without a reply that it has worked on
    Reply last;
  };
  struct Job {
    Hosted* client = nullptr;
    const Task* task = nullptr;
    const message::Message* message = nullptr;
  };
  [[nodiscard]] Hosted* find(ClientId client);
  // The clients for which this task is new; a client that has answered it sends its reply again.
  [[nodiscard]] Task find_fresh(const Task& task, std::span<const Job> jobs, const Send& send);
  void answer(const Job& job, const Send& send);
  void send_last(Hosted& hosted, const Send& send);
  void refuse(const Task& task, const std::string& problem, const Send& send);
  void pass_over(Hosted& hosted);  // it is not busy with what has arrived
  void note(const Task& task, Round round);
  // What each client was told, if some of it may not be on disk; nothing otherwise.
  [[nodiscard]] std::vector<Sequence> find_unsettled() const;

  std::vector<Hosted> clients_;
  const Executor* executor_;
  message::WireFormat format_;
  TaskJournal* journal_;
  std::optional<Round> round_;  // the newest that was begun
  mutable std::mutex mutex_;    // of progress, told and last
};
}  // namespace fedhur::transport
