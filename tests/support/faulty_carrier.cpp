#include "tests/support/faulty_carrier.hpp"

#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "fedhur/base/byte_stream.hpp"
#include "fedhur/base/checksum.hpp"

namespace fedhur::tests {
using transport::ClientProgress;
using transport::Hub;
using transport::Reply;
using transport::Sequence;
using transport::Site;
using transport::Task;
using Clock = std::chrono::steady_clock;
using Frame = std::vector<std::byte>;
namespace {
constexpr auto kFaults = static_cast<Draw>(0xfa017);  // not among the draws of the product
enum class Direction : std::uint8_t { down, up, reconnect };
enum class Kind : std::uint8_t { task, reply, progress };

// A frame ends with a checksum of all before it, as those of real networks do.
constexpr std::size_t kChecksum = sizeof(Checksum::Digest);

Frame seal(ByteWriter& writer) {
  Frame frame = writer.finish();
  const auto checksum = checksum_of(frame);
  frame.insert(frame.end(), checksum.begin(), checksum.end());
  return frame;
}

// What is in the frame; nothing if it is damaged.
std::optional<ByteReader> open(const Frame& frame) {
  const auto content = std::span(frame).first(frame.size() - kChecksum);
  if (!std::ranges::equal(checksum_of(content), std::span(frame).last(kChecksum))) return {};
  return ByteReader(content);
}

transport::Bytes take_rest(ByteReader& reader) {
  const auto rest = reader.take(reader.remaining());
  return std::make_shared<const std::vector<std::byte>>(rest.begin(), rest.end());
}

Frame frame_of(const Task& task) {
  ByteWriter writer;
  writer.put(Kind::task);
  writer.put(task.sequence);
  writer.put(task.after);
  writer.put(task.is_told);
  writer.put(static_cast<std::uint32_t>(task.clients.size()));
  for (const ClientId client : task.clients) writer.put(client);
  writer.put_bytes(*task.message);
  return seal(writer);
}

Task read_task(ByteReader& reader) {
  Task task;
  task.sequence = reader.get<Sequence>();
  task.after = reader.get<Sequence>();
  task.is_told = reader.get<bool>();
  task.clients.resize(reader.get<std::uint32_t>());
  for (ClientId& client : task.clients) client = reader.get<ClientId>();
  task.message = take_rest(reader);
  return task;
}

Frame frame_of(const Reply& reply, Hub::Session session) {
  ByteWriter writer;
  writer.put(Kind::reply);
  writer.put(session);
  writer.put(reply.sequence);
  writer.put(reply.client);
  writer.put_name(reply.problem.substr(0, 255));
  if (reply.message) writer.put_bytes(*reply.message);
  return seal(writer);
}

Reply read_reply(ByteReader& reader) {
  Reply reply{.sequence = reader.get<Sequence>(), .client = reader.get<ClientId>()};
  reply.problem = reader.get_name();
  if (reply.problem.empty()) reply.message = take_rest(reader);
  return reply;
}

Frame frame_of(const std::vector<ClientProgress>& clients, Hub::Session session) {
  ByteWriter writer;
  writer.put(Kind::progress);
  writer.put(session);
  for (const ClientProgress& client : clients) writer.put(client);
  return seal(writer);
}

std::vector<ClientProgress> read_progress(ByteReader& reader) {
  std::vector<ClientProgress> clients;
  while (reader.remaining() > 0) clients.push_back(reader.get<ClientProgress>());
  return clients;
}
}  // namespace

// One direction of a link: frames go in and, if they are lucky, come out.
class FaultyCarrier::Line {
 public:
  Line(const FaultRates& rates, std::chrono::microseconds longest_delay, const Rng& rng,
       std::uint64_t link, Direction direction, FaultCounts& counts)
      : rates_(rates),
        longest_delay_(longest_delay),
        rng_(rng),
        link_(link),
        direction_(direction),
        counts_(&counts) {}

  // False if the connection breaks over it.
  [[nodiscard]] bool send(Frame frame) {
    const std::lock_guard lock(mutex_);
    // What happens to a frame depends on its number, not on the threads.
    Rng fate = rng_.stream(kFaults, link_, direction_, num_sent_++);
    ++counts_->frames;
    if (draw(fate, rates_.disconnect, counts_->disconnected)) return false;
    if (draw(fate, rates_.drop, counts_->dropped)) return true;
    const int copies = draw(fate, rates_.duplicate, counts_->duplicated) ? 2 : 1;
    for (int copy = 0; copy < copies; ++copy) {
      Frame arriving = frame;
      if (draw(fate, rates_.corrupt, counts_->corrupted)) {
        arriving[fate.below(arriving.size())] ^= static_cast<std::byte>(1U << fate.below(8));
      }
      auto due = Clock::now();
      if (draw(fate, rates_.delay, counts_->delayed)) {
        due += std::chrono::microseconds(
            fate.below(static_cast<std::uint64_t>(longest_delay_.count()) + 1));
      }
      frames_.emplace(due, std::move(arriving));
    }
    changed_.notify_one();
    return true;
  }

  // All that has arrived, at least one; none when it has stopped.
  [[nodiscard]] std::vector<Frame> receive() {
    std::unique_lock lock(mutex_);
    std::vector<Frame> arrived;
    while (!is_stopped_ && arrived.empty()) {
      if (frames_.empty()) {
        changed_.wait(lock);
      } else if (const auto due = frames_.begin()->first; due > Clock::now()) {
        (void)changed_.wait_until(lock, due);
      }
      while (!frames_.empty() && frames_.begin()->first <= Clock::now()) {
        arrived.push_back(std::move(frames_.begin()->second));
        frames_.erase(frames_.begin());
      }
    }
    return is_stopped_ ? std::vector<Frame>{} : arrived;
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }

 private:
  static bool draw(Rng& rng, double rate, std::atomic<std::uint64_t>& count) {
    const bool happens = rng.uniform() < rate;
    if (happens) ++count;
    return happens;
  }

  FaultRates rates_;
  std::chrono::microseconds longest_delay_;
  Rng rng_;
  std::uint64_t link_;
  Direction direction_;
  FaultCounts* counts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Clock::time_point, Frame> frames_;  // by when they arrive
  std::uint64_t num_sent_ = 0;
  bool is_stopped_ = false;
};

// A site and what connects it: one thread for the hub's end of it, one that works, and one that
// brings its replies.
class FaultyCarrier::Link {
 public:
  Link(FaultyCarrier& carrier, std::string name, NextLife next_life)
      : hub_(carrier.hub_),
        beat_(carrier.config_.beat),
        name_(std::move(name)),
        next_life_(std::move(next_life)),
        rng_(carrier.rng_.stream(kFaults, carrier.links_.size(), Direction::reconnect)),
        counts_(carrier.counts_),
        down_(carrier.config_.down, carrier.config_.longest_delay, carrier.rng_,
              carrier.links_.size(), Direction::down, *carrier.counts_),
        up_(carrier.config_.up, carrier.config_.longest_delay, carrier.rng_, carrier.links_.size(),
            Direction::up, *carrier.counts_),
        site_(next_life_()),
        threads_{std::jthread([this] { serve(); }), std::jthread([this] { work(); }),
                 std::jthread([this] { bring(); })} {}
  ~Link() {
    is_stopped_ = true;
    down_.stop();
    up_.stop();
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

 private:
  // Connected again and again; what is on its way may outlive its connection.
  void serve() {
    while (!is_stopped_) {
      reconnect();
      while (!is_stopped_ && !is_broken_ && hub_->is_open(session_)) {
        const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(beat_);
        const auto task =
            hub_->next_task(session_, std::max(patience, std::chrono::milliseconds(1)));
        if (task && !down_.send(frame_of(*task))) is_broken_ = true;
        report();
      }
      if (!hub_->closing().empty()) break;
    }
    hub_->disconnect(session_);
  }

  // None while the site is down.
  [[nodiscard]] std::optional<std::vector<ClientProgress>> progress() {
    const std::lock_guard lock(mutex_);
    if (site_ == nullptr) return {};
    return site_->progress();
  }

  void reconnect() {
    is_broken_ = false;  // before the progress is read: the site may die afterwards
    const auto clients = progress();
    if (!clients) {
      is_broken_ = true;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      return;
    }
    // The server may notice the new connection first.
    const bool is_noticed_early = rng_.uniform() < 0.5;
    const Hub::Session older = session_;
    if (is_noticed_early) hub_->disconnect(older);
    session_ = hub_->connect(name_, *clients);
    if (!is_noticed_early) hub_->disconnect(older);
  }

  void report() {
    const auto now = Clock::now();
    if (now < next_report_) return;
    next_report_ = now + beat_;
    const auto clients = progress();
    if (clients && !up_.send(frame_of(*clients, session_))) is_broken_ = true;
  }

  void work() {
    for (auto frames = down_.receive(); !frames.empty(); frames = down_.receive()) {
      std::vector<Task> tasks;
      for (const Frame& frame : frames) {
        auto reader = open(frame);
        if (!reader) {
          ++counts_->noticed;
          continue;
        }
        (void)reader->get<Kind>();
        tasks.push_back(read_task(*reader));
        site_->note_arrival(tasks.back().sequence, tasks.back().clients);
      }
      try {
        site_->work(tasks, [&](const Reply& reply) {
          if (!up_.send(frame_of(reply, session_))) is_broken_ = true;
        });
      } catch (const SiteDied&) {
        ++counts_->died;
        revive();
      }
    }
  }

  void revive() {
    {
      const std::lock_guard lock(mutex_);
      site_ = nullptr;
      is_broken_ = true;
    }
    Site* next = next_life_();
    const std::lock_guard lock(mutex_);
    site_ = next;
    is_broken_ = true;  // whatever was connected meanwhile was not this site
  }

  void bring() {
    for (auto frames = up_.receive(); !frames.empty(); frames = up_.receive()) {
      for (const Frame& frame : frames) {
        auto reader = open(frame);
        if (!reader) {
          ++counts_->noticed;
          continue;
        }
        const auto kind = reader->get<Kind>();
        const auto session = reader->get<Hub::Session>();
        if (kind == Kind::reply) {
          hub_->accept(session, read_reply(*reader));
        } else {
          hub_->note_progress(session, read_progress(*reader));
        }
      }
    }
  }

  Hub* hub_;
  std::chrono::microseconds beat_;
  std::string name_;
  NextLife next_life_;
  Rng rng_;
  FaultCounts* counts_;
  Line down_;
  Line up_;
  std::mutex mutex_;  // of the site's pointer: only the thread that works changes it
  Site* site_;
  std::atomic<Hub::Session> session_ = 0;
  std::atomic<bool> is_broken_ = false;
  std::atomic<bool> is_stopped_ = false;
  Clock::time_point next_report_;
  std::array<std::jthread, 3> threads_;  // last: joined before what they use goes away
};

FaultyCarrier::FaultyCarrier(Hub& hub, const FaultConfig& config, const Rng& rng,
                             FaultCounts& counts)
    : hub_(&hub), config_(config), rng_(rng), counts_(&counts) {}
FaultyCarrier::~FaultyCarrier() = default;

void FaultyCarrier::add(const std::string& name, const NextLife& next_life) {
  links_.push_back(std::make_unique<Link>(*this, name, next_life));
}
}  // namespace fedhur::tests
