#include "fedhur/transport/grpc/site_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fedhur/base/error.hpp"
#include "fedhur/transport/grpc/frames.hpp"

namespace fedhur::transport {
namespace {
// More than that is left with the server until the clients have come to it.
constexpr std::uint64_t kMostQueued = std::uint64_t{1} << 30U;

// Thrown through a site's work, which nobody waits for any more.
struct Ended {};
}  // namespace

// While it lives, replies and beats go to this stream.
class SiteRunner::Published {
 public:
  Published(SiteRunner& service, const std::shared_ptr<HubStream>& stream) : service_(service) {
    const std::lock_guard lock(service_.mutex_);
    service_.stream_ = stream;
  }
  ~Published() {
    const std::lock_guard lock(service_.mutex_);
    service_.stream_.reset();
  }
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

 private:
  SiteRunner& service_;
};

SiteRunner::SiteRunner(Site& site, const HubConnectionConfig& config, NetworkLog log,
                       std::string run_id)
    : site_(site), config_(config), log_(std::move(log)), run_id_(std::move(run_id)) {}

Link::Talk SiteRunner::talk(const std::shared_ptr<HubStream>& stream, const Welcome& welcome) {
  if (welcome.run_id != run_id_) {
    throw TransportError(fmt::format("{} has begun another run, {}; this site takes part in {}",
                                     config_.server, welcome.run_id, run_id_));
  }
  v1::FromSite ready;
  put_progress(site_.progress(), *ready.mutable_ready()->mutable_progress());
  if (!stream->write(ready)) return Link::Talk::lost;
  log_(Severity::info, fmt::format("connected to {}", config_.server));
  const Published published(*this, stream);
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
      throw ProtocolError(
          fmt::format("{}: an unexpected frame, expected Chunk, Beat or Farewell", config_.server));
    }
  }
  return Link::Talk::lost;
}

void SiteRunner::take(const v1::Chunk& chunk, Assembler& assembler, Task& task) {
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
    task.message = std::make_shared<const std::vector<std::byte>>(std::move(*message));
    enqueue(std::move(task));
  }
}

void SiteRunner::enqueue(Task task) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queued_bytes_ < kMostQueued || has_ended_; });
  queued_bytes_ += task.message->size();
  queue_.push_back(std::move(task));
  changed_.notify_all();
}

void SiteRunner::work() {
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

// A reply that is lost with its connection is asked for again.
void SiteRunner::send(const Reply& reply) {
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

void SiteRunner::beat() {
  while (!wait_for_end(config_.beat)) {
    const auto stream = this->stream();
    if (!stream) continue;
    v1::FromSite frame;
    put_progress(site_.progress(), *frame.mutable_beat()->mutable_progress());
    (void)stream->write(frame);
  }
}

void SiteRunner::end() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

bool SiteRunner::wait_for_end(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return has_ended_; });
}

std::optional<Farewell> SiteRunner::farewell() const {
  const std::lock_guard lock(mutex_);
  return farewell_;
}

std::shared_ptr<HubStream> SiteRunner::stream() const {
  const std::lock_guard lock(mutex_);
  return stream_;
}
}  // namespace fedhur::transport
