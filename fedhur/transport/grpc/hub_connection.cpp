#include "fedhur/transport/grpc/hub_connection.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "fedhur/base/error.hpp"
#include "fedhur/transport/grpc/frames.hpp"
#include "fedhur/transport/grpc/grpc_process.hpp"
#include "fedhur/transport/grpc/link.hpp"

namespace fedhur::transport {
namespace {
constexpr auto kPoll = std::chrono::milliseconds(500);

bool asks_to_stop(const ShouldStop& should_stop) { return should_stop && should_stop(); }

// More than that is left with the server until the clients have come to it.
constexpr std::uint64_t kMostQueued = std::uint64_t{1} << 30U;

// Thrown to stop a site's work when its connection has ended.
struct Ended {};

// What a connected site does: takes tasks, works on them, sends replies and heartbeats.
class SiteRunner {
 public:
  SiteRunner(Site& site, const HubConnectionConfig& config, NetworkLog log, std::string run_id)
      : site_(site), config_(config), log_(std::move(log)), run_id_(std::move(run_id)) {}

  // Each is for a thread of its own, until end().
  [[nodiscard]] Link::Talk talk(const std::shared_ptr<HubStream>& stream, const Welcome& welcome) {
    if (welcome.run_id != run_id_) {
      throw TransportError(fmt::format("{} has begun another run, {}; this site takes part in {}",
                                       config_.server, welcome.run_id, run_id_));
    }
    v1::FromSite ready;
    put_progress(site_.progress(), *ready.mutable_ready()->mutable_progress());
    if (!stream->write(ready)) return Link::Talk::lost;
    log_(Severity::info, fmt::format("connected to {}", config_.server));
    publish(stream);
    const Published published{*this};
    Assembler assembler(config_.largest_task);
    Task task;
    for (v1::FromServer frame; stream->read(frame);) {
      if (frame.has_chunk()) {
        take(frame.chunk(), assembler, task);
      } else if (frame.has_farewell()) {
        const std::lock_guard lock(mutex_);
        farewell_ = read_farewell(frame.farewell());
        return Link::Talk::done;
      } else if (!frame.has_beat()) {
        throw ProtocolError(fmt::format("{}: an unexpected frame, expected Chunk, Beat or Farewell",
                                        config_.server));
      }
    }
    return Link::Talk::lost;
  }
  void work() {
    try {
      for (;;) {
        std::vector<Task> tasks;
        {
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [&] { return !queue_.empty() || has_ended_; });
          if (has_ended_) return;
          tasks.swap(queue_);
          queued_bytes_ = 0;
          changed_.notify_all();
        }
        site_.work(tasks, [&](const Reply& reply) { send(reply); });
      }
    } catch (const Ended&) {
    }
  }
  void beat() {
    while (!wait_for_end(config_.beat)) {
      const auto stream = this->stream();
      if (!stream) continue;
      v1::FromSite frame;
      put_progress(site_.progress(), *frame.mutable_beat()->mutable_progress());
      (void)stream->write(frame);
    }
  }

  // For any thread.
  void end() {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }
  // False if it has not ended meanwhile.
  [[nodiscard]] bool wait_for_end(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return has_ended_; });
  }
  [[nodiscard]] std::optional<Farewell> farewell() const {
    const std::lock_guard lock(mutex_);
    return farewell_;
  }

 private:
  // While it lives, replies and beats go to the stream that was published.
  struct Published {
    SiteRunner& runner;
    ~Published() { runner.publish(nullptr); }
  };
  void publish(std::shared_ptr<HubStream> stream) {
    const std::lock_guard lock(mutex_);
    stream_ = std::move(stream);
  }

  // `task` is what has not arrived completely.
  void take(const v1::Chunk& chunk, Assembler& assembler, Task& task) {
    if (assembler.is_between_messages()) {
      if (chunk.sequence() == 0) {
        throw ProtocolError(fmt::format("{}: a task without a number", config_.server));
      }
      task = {.sequence = chunk.sequence(),
              .clients = clients_of(chunk.clients()),
              .message = nullptr,
              .after = chunk.after(),
              .is_told = chunk.is_told()};
      site_.note_arrival(task.sequence, task.clients);
    } else if (chunk.sequence() != task.sequence) {
      throw ProtocolError(fmt::format("{}: a piece of task {} amid task {}", config_.server,
                                      chunk.sequence(), task.sequence));
    }
    if (auto message = assembler.add(piece_of(chunk))) {
      task.message = share(std::move(*message));
      enqueue(std::move(task));
    }
  }
  void enqueue(Task task) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queued_bytes_ < kMostQueued || has_ended_; });
    queued_bytes_ += task.message->size();
    queue_.push_back(std::move(task));
    changed_.notify_all();
  }
  // A reply that is lost with its connection is asked for again.
  void send(const Reply& reply) {
    {
      const std::lock_guard lock(mutex_);
      if (has_ended_) throw Ended{};
    }
    const auto stream = this->stream();
    if (!stream) return;
    v1::FromSite frame;
    v1::Chunk& chunk = *frame.mutable_chunk();
    chunk.set_sequence(reply.sequence);
    chunk.add_clients(static_cast<std::uint32_t>(reply.client));
    if (!reply.problem.empty()) {
      chunk.set_problem(printable(reply.problem));
      (void)stream->write(frame);
      return;
    }
    Splitter pieces(*reply.message);
    while (const auto piece = pieces.next()) {
      put_piece(*piece, chunk);
      if (!stream->write(frame)) return;
    }
  }
  [[nodiscard]] std::shared_ptr<HubStream> stream() const {
    const std::lock_guard lock(mutex_);
    return stream_;
  }

  Site& site_;
  const HubConnectionConfig& config_;
  NetworkLog log_;
  std::string run_id_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool has_ended_ = false;
  std::optional<Farewell> farewell_;
  std::shared_ptr<HubStream> stream_;  // where replies go; none while there is no connection
  std::vector<Task> queue_;
  std::uint64_t queued_bytes_ = 0;
};
}  // namespace

HubConnection::HubConnection(HubConnectionConfig config, NetworkLog log)
    : config_(std::move(config)), log_(log ? std::move(log) : [](Severity, const std::string&) {}) {
  disable_lock_checks();
  (void)Link(config_, log_);  // says at once what is wrong with the files
}

std::optional<Welcome> HubConnection::connect(const ShouldStop& should_stop) {
  Link link(config_, log_);
  Welcome welcome;
  auto linking = std::async(std::launch::async, [&] {
    return link.run([&](const auto& /*stream*/, const Welcome& received) {
      welcome = received;
      return Link::Talk::done;
    });
  });
  while (linking.wait_for(kPoll) != std::future_status::ready) {
    if (asks_to_stop(should_stop)) link.stop();
    link.expire();
  }
  const Link::End end = linking.get();
  if (end.farewell) {
    const std::string& reason = end.farewell->reason;
    throw TransportError(fmt::format("{} has ended the run{}{}", config_.server,
                                     reason.empty() ? "" : ": ", reason));
  }
  if (!end.is_done) return std::nullopt;
  run_id_ = welcome.run_id;
  config_.catalogue_sha256 = welcome.catalogue_sha256;
  return welcome;
}

std::optional<Farewell> HubConnection::serve(Site& site, const ShouldStop& should_stop) {
  expects(!run_id_.empty(), "a site connects before it serves");
  HubConnectionConfig config = config_;
  config.clients.clear();
  for (const ClientProgress& client : site.progress()) config.clients.push_back(client.client);
  Link link(config, log_);
  SiteRunner runner(site, config, log_, run_id_);

  // Whichever ends first ends all.
  const auto ending = [&](auto&& activity) {
    return std::async(std::launch::async, [&runner, activity] {
      struct End {
        SiteRunner& runner;
        ~End() { runner.end(); }
      } const end{runner};
      return activity();
    });
  };
  auto linking = ending([&] {
    return link.run(
        [&](const auto& stream, const Welcome& welcome) { return runner.talk(stream, welcome); });
  });
  auto working = ending([&] { runner.work(); });
  auto beating = ending([&] { runner.beat(); });
  while (!runner.wait_for_end(kPoll)) {
    if (asks_to_stop(should_stop)) runner.end();
    link.expire();
  }
  link.stop();
  linking.wait();
  beating.get();
  working.get();  // what a client has thrown says more than what the connection makes of it
  const Link::End end = linking.get();
  return end.farewell ? end.farewell : runner.farewell();
}
}  // namespace fedhur::transport
