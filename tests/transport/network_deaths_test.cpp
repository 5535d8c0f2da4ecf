// Server and sites are killed again and again, at any moment and over a bad network: the run ends
// with the bits of an undisturbed one.
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include "fedhur/base/file.hpp"
#include "tests/transport/network_run.hpp"
#include "tests/transport/network_support.hpp"

namespace fedhur::transport::network_deaths_test {
namespace {
using fedhur::tests::FaultCounts;
using fedhur::tests::FaultyCarrier;
using fedhur::tests::kRounds;
using fedhur::tests::MethodRun;
using fedhur::tests::RunOutcome;
using fedhur::tests::SiteDied;
using fedhur::tests::tiny_settings;

constexpr auto kDeaths = static_cast<Draw>(0xdead);
constexpr Index kClients = 7;

// A site that is killed now and then. Its disk has the state of its clients at the beginning of a
// round, and the tasks since; what is not settled is lost if the machine fails, and there if the
// process is killed.
class MortalSite : public TaskJournal {
 public:
  MortalSite(std::string method, std::vector<Index> clients, const Rng& rng, double death_rate)
      : method_(std::move(method)), ids_(std::move(clients)), rng_(rng), death_rate_(death_rate) {}

  // The running one, or a new one that begins with what is on the disk.
  Site* next_life() {
    if (site_ && !is_dead_) return site_.get();
    site_.reset();
    is_dead_ = false;
    if (rng_.stream(kDeaths, ids_.front(), num_chances_++).uniform() < 0.5) sync();
    {
      const std::lock_guard lock(syncing_);
      unsynced_.clear();
    }
    run_ = std::make_unique<MethodRun>(tiny_settings(method_), 1 + std::ssize(ids_) % 2, ids_);
    mortals_.clear();
    std::vector<HostedClient> hosted;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      Saved& saved = disk_[i];
      if (!saved.state.empty()) {
        ByteReader reader(saved.state);
        run_->clients[i].half().restore(client::PrivateState::read(reader, nullptr));
      }
      mortals_.push_back(std::make_unique<Mortal>(*this, run_->clients[i]));
      hosted.push_back({client_id(ids_[i]), mortals_.back().get(), saved.answered});
    }
    site_ = std::make_unique<Site>(hosted, run_->executor, run_->config.wire.format, this);
    is_replaying_ = true;
    site_->work(std::vector(tasks_), [](const Reply&) {});
    is_replaying_ = false;
    return site_.get();
  }

  void begin_round(Round /*round*/) override {
    if (is_replaying_) return;
    const auto seen = site_->seen();
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      disk_[i] = {run_->client_state(i), seen[i]};
    }
    {
      const std::lock_guard lock(syncing_);
      tasks_.clear();
      unsynced_.clear();
    }
    maybe_die();
  }
  void append(const Task& task) override {
    if (is_replaying_) return;
    maybe_die();
    {
      const std::lock_guard lock(syncing_);
      unsynced_.push_back(task);
    }
    maybe_die();
  }
  void sync() override {
    if (is_replaying_) return;
    const std::lock_guard lock(syncing_);
    tasks_.insert(tasks_.end(), unsynced_.begin(), unsynced_.end());
    unsynced_.clear();
  }

  [[nodiscard]] const std::vector<Index>& clients() const { return ids_; }
  [[nodiscard]] std::vector<std::byte> state(std::size_t i) const { return run_->client_state(i); }

 private:
  struct Saved {
    std::vector<std::byte> state;  // of a client that has not begun: nothing
    Sequence answered = 0;
  };
  // Dies after it has changed its state, before its reply is sent.
  class Mortal : public federation::ClientMethod {
   public:
    Mortal(MortalSite& site, federation::ClientMethod& inner) : site_(&site), inner_(&inner) {}
    [[nodiscard]] Message answer(const Message& request) override {
      Message reply = inner_->answer(request);
      if (!site_->is_replaying_) site_->maybe_die();
      return reply;
    }

   private:
    MortalSite* site_;
    federation::ClientMethod* inner_;
  };

  void maybe_die() {
    if (rng_.stream(kDeaths, ids_.front(), num_chances_++).uniform() >= death_rate_) return;
    is_dead_ = true;
    throw SiteDied{};
  }

  std::string method_;
  std::vector<Index> ids_;
  Rng rng_;
  double death_rate_;
  std::atomic<std::uint64_t> num_chances_ = 0;
  std::atomic<bool> is_dead_ = false;
  bool is_replaying_ = false;
  std::map<std::size_t, Saved> disk_;
  std::vector<Task> tasks_;
  std::vector<Task> unsynced_;
  std::mutex syncing_;
  std::unique_ptr<MethodRun> run_;
  std::vector<std::unique_ptr<Mortal>> mortals_;
  std::unique_ptr<Site> site_;
};

struct ServerDied {};

// Ends the server's life at an exchange: before it, after some of its answers, or after its end; or
// before or after it has told something.
class MortalFederation : public federation::Federation {
 public:
  // `on_begin` is called when an exchange begins: all that was written before is on disk.
  MortalFederation(Hub& hub, Rng rng, double death_rate, std::function<void()> on_begin)
      : hub_(&hub), rng_(rng), death_rate_(death_rate), on_begin_(std::move(on_begin)) {}
  [[nodiscard]] Index num_clients() const override { return hub_->num_clients(); }
  void tell(std::span<const Request> requests) override {
    const bool dies = rng_.uniform() < death_rate_;
    if (dies && rng_.uniform() < 0.5) throw ServerDied{};
    on_begin_();
    hub_->tell(requests);
    if (dies) throw ServerDied{};
  }
  [[nodiscard]] std::vector<Answer> exchange(std::span<const Request> requests) override {
    const bool dies = rng_.uniform() < death_rate_;
    const auto moment = static_cast<Index>(rng_.below(kClients + 2));  // 0: before, then answers
    if (dies && moment == 0) throw ServerDied{};
    std::vector<Request> watched(requests.begin(), requests.end());
    std::atomic<Index> heard = 0;
    for (Request& request : watched) {
      request.check = std::make_shared<const federation::AnswerCheck>(
          [&, inner = request.check](const Message& answer) {
            if (inner) (*inner)(answer);
            if (++heard == moment && dies) hub_->close("killed");
          });
    }
    try {
      on_begin_();
      auto answers = hub_->exchange(watched);
      if (dies && moment > kClients) throw ServerDied{};
      return answers;
    } catch (const TransportError&) {
      throw ServerDied{};
    }
  }

 private:
  Hub* hub_;
  Rng rng_;
  double death_rate_;
  std::function<void()> on_begin_;
};

// What a server has on its disk, besides the journal.
struct Checkpoint {
  Round next_round = 0;
  Sequence next_sequence = 1;
  std::optional<NamedArrays> server_state;
  RunOutcome outcome;
};

class MortalRun {
 public:
  MortalRun(std::string method, std::uint64_t seed, double server_rate, double site_rate)
      : method_(std::move(method)), rng_(seed), server_rate_(server_rate) {
    for (auto& clients : fedhur::tests::divide_among_sites(kClients, seed)) {
      sites_.push_back(std::make_unique<MortalSite>(method_, std::move(clients), rng_, site_rate));
    }
  }

  RunOutcome play(FaultCounts& counts) {
    while (!live(counts)) ++num_lives;
    RunOutcome outcome = std::move(checkpoint_.outcome);
    outcome.client_states.resize(kClients);
    for (const auto& site : sites_) {
      for (std::size_t i = 0; i < site->clients().size(); ++i) {
        outcome.client_states[static_cast<std::size_t>(site->clients()[i])] = site->state(i);
      }
    }
    return outcome;
  }
  std::uint64_t num_lives = 0;

 private:
  // One life of the server. True if the run is over.
  bool live(FaultCounts& counts) {
    Rng rng = rng_.stream(kDeaths, 1000, num_lives);
    const MethodRun run(tiny_settings(method_));
    if (checkpoint_.server_state) run.server->restore(*checkpoint_.server_state);
    if (num_lives > 0 && rng.uniform() < 0.5) cut_power(rng);
    ReplyJournal journal(path());
    Hub hub({.num_clients = kClients, .deadline_seconds = 120, .format = run.config.wire.format},
            {}, &journal, checkpoint_.next_sequence);
    FaultyCarrier carrier(hub, fedhur::tests::many_faults(), rng, counts);
    for (const auto& site : sites_) {
      carrier.add("a site", [site = site.get()] { return site->next_life(); });
    }
    const auto note_durable = [this] { durable_ = read_file(path()); };
    MortalFederation federation(hub, rng, server_rate_, note_durable);
    RunOutcome outcome = checkpoint_.outcome;
    try {
      for (Round round = checkpoint_.next_round; round < kRounds; ++round) {
        play_round(round, *run.server, federation, run.config.evaluation.cutoffs, outcome);
        const bool is_over = round + 1 == kRounds;
        if (rng.uniform() < 0.3 && !is_over) continue;  // then the journal is of several rounds
        checkpoint_ = {round + 1, hub.next_sequence(), run.server->save(), outcome};
        if (rng.uniform() < 0.8) journal.clear();  // or it was killed before that
      }
    } catch (const ServerDied&) {
      hub.close("killed");
      return false;
    }
    hub.close("done");
    checkpoint_.outcome.server_state = run.server_state();
    return true;
  }

  // Of what came after the last beginning of an exchange, the disk has some pages and of others
  // what was there before.
  void cut_power(Rng& rng) const {
    constexpr std::size_t kPage = 16;  // the smaller, the more is torn
    const std::vector<std::byte> newest = read_file(path());
    std::vector<std::byte> bytes = durable_;
    bytes.resize(std::max(bytes.size(), newest.size()));
    const double share = rng.uniform();
    for (std::size_t first = 0; first < newest.size(); first += kPage) {
      if (rng.uniform() >= share) continue;
      const std::size_t size = std::min(kPage, newest.size() - first);
      std::copy_n(newest.begin() + static_cast<std::ptrdiff_t>(first), size,
                  bytes.begin() + static_cast<std::ptrdiff_t>(first));
    }
    std::ofstream file(path(), std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_ / "journal"; }

  std::string method_;
  Rng rng_;
  double server_rate_;
  std::vector<std::byte> durable_;  // the journal when it was last known to be on disk
  TempFolder folder_;
  Checkpoint checkpoint_;
  std::vector<std::unique_ptr<MortalSite>> sites_;
};

class Deaths : public testing::TestWithParam<std::string> {
 protected:
  static void expect_no_trace(double server_rate, double site_rate) {
    const RunOutcome expected = fedhur::tests::run_in_process(GetParam());
    FaultCounts counts;
    std::uint64_t server_deaths = 0;
    for (std::uint64_t seed = 0; seed < fedhur::tests::kDeathSeeds; ++seed) {
      MortalRun run(GetParam(), seed, server_rate, site_rate);
      expect_same(run.play(counts), expected);
      server_deaths += run.num_lives;
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
    fedhur::tests::record(counts);
    RecordProperty("server_deaths", std::to_string(server_deaths));
    EXPECT_EQ(server_deaths > 0, server_rate > 0);
    EXPECT_EQ(counts.died > 0, site_rate > 0);
  }
};
INSTANTIATE_TEST_SUITE_P(Methods, Deaths, testing::Values("fedmf", "fedcia", "fedhur", "fedncf"),
                         [](const auto& given) { return given.param; });

TEST_P(Deaths, OfTheServerLeaveNoTrace) { expect_no_trace(0.2, 0); }
TEST_P(Deaths, OfSitesLeaveNoTrace) { expect_no_trace(0, 0.05); }
TEST_P(Deaths, OfBothLeaveNoTrace) { expect_no_trace(0.25, 0.05); }
}  // namespace
}  // namespace fedhur::transport::network_deaths_test
