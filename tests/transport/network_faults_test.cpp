// Whatever a network does to frames, a run over it ends with the same bits as one in a process, as
// long as no client misses a deadline.
#include "tests/transport/network_run.hpp"
#include "tests/transport/network_support.hpp"

namespace fedhur::transport {
namespace {
using fedhur::tests::FaultConfig;
using fedhur::tests::FaultCounts;
using fedhur::tests::FaultyCarrier;
using fedhur::tests::MethodRun;
using fedhur::tests::RunOutcome;
using fedhur::tests::tiny_settings;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;

// Counts what is waited for.
class Counted : public federation::Federation {
 public:
  explicit Counted(Hub& hub) : hub_(&hub) {}
  [[nodiscard]] Index num_clients() const override { return hub_->num_clients(); }
  [[nodiscard]] std::vector<Answer> exchange(std::span<const Request> requests) override {
    ++num_exchanges;
    return hub_->exchange(requests);
  }
  void tell(std::span<const Request> requests) override { hub_->tell(requests); }
  std::uint64_t num_exchanges = 0;

 private:
  Hub* hub_;
};

// The clients of some sites, of which some may not exist.
class Sites {
 public:
  Sites(const std::string& method, const std::vector<std::vector<Index>>& clients)
      : run(tiny_settings(method)) {
    for (const auto& own : clients) {
      std::vector<HostedClient> hosted;
      for (const Index client : own) {
        hosted.push_back({client_id(client), &run.clients[static_cast<std::size_t>(client)]});
      }
      executors_.push_back(std::make_unique<Executor>(1 + std::ssize(own) % 2));
      sites_.push_back(std::make_unique<Site>(hosted, *executors_.back(), run.config.wire.format));
    }
  }
  void connect(FaultyCarrier& carrier) {
    for (const auto& site : sites_) {
      carrier.add("a site", [site = site.get()] { return site; });
    }
  }
  // Returns how many exchanges there were.
  std::uint64_t play(Hub& hub, RunOutcome& outcome) const {
    Counted counted(hub);
    for (Round round = 0; round < fedhur::tests::kRounds; ++round) {
      play_round(round, *run.server, counted, run.config.evaluation.cutoffs, outcome);
    }
    return counted.num_exchanges;
  }
  MethodRun run;

 private:
  std::vector<std::unique_ptr<Executor>> executors_;
  std::vector<std::unique_ptr<Site>> sites_;
};

struct NetworkRun {
  RunOutcome outcome;
  HubStatus status;
  std::uint64_t num_exchanges = 0;
};

NetworkRun run_over_network(const std::string& method, const FaultConfig& faults,
                            std::uint64_t seed, FaultCounts& counts) {
  NetworkRun played;
  RunOutcome& outcome = played.outcome;
  const Index num_clients = 7;
  Sites sites(method, fedhur::tests::divide_among_sites(num_clients, seed));
  Hub hub(
      {.num_clients = num_clients, .deadline_seconds = 120, .format = sites.run.config.wire.format},
      {});
  {
    FaultyCarrier carrier(hub, faults, Rng(seed), counts);
    sites.connect(carrier);
    played.num_exchanges = sites.play(hub, outcome);
    played.status = hub.status();
    hub.close("done");
  }
  for (std::size_t k = 0; k < sites.run.clients.size(); ++k) {
    outcome.client_states.push_back(sites.run.client_state(k));
  }
  outcome.server_state = sites.run.server_state();
  return played;
}

class Faults : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Methods, Faults, testing::Values("fedmf", "fedcia", "fedhur", "fedncf"),
                         [](const auto& given) { return given.param; });

TEST_P(Faults, ChangeNotABitOfARun) {
  const RunOutcome expected = fedhur::tests::run_in_process(GetParam());
  FaultCounts counts;
  for (std::uint64_t seed = 0; seed < fedhur::tests::kFaultSeeds; ++seed) {
    const NetworkRun played =
        run_over_network(GetParam(), fedhur::tests::many_faults(), seed, counts);
    expect_same(played.outcome, expected);
    const auto& counters = played.status.counters;
    EXPECT_EQ(counters.refused, 0U) << "what is damaged does not reach the hub";
    EXPECT_EQ(counters.replies, 7 * played.num_exchanges) << "one of each client and exchange";
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  fedhur::tests::record(counts);
  for (const std::uint64_t count :
       {counts.dropped.load(), counts.duplicated.load(), counts.noticed.load(),
        counts.delayed.load(), counts.disconnected.load()}) {
    EXPECT_GT(count, 0U) << "the network was too good";
  }
}

TEST(Network, WithoutFaultsCarriesEachTaskAndReplyOnce) {
  FaultCounts counts;
  const FaultConfig quiet{.down = {}, .up = {}, .beat = std::chrono::seconds(60)};
  const NetworkRun played = run_over_network("fedmf", quiet, 2, counts);
  expect_same(played.outcome, fedhur::tests::run_in_process("fedmf"));
  const auto& counters = played.status.counters;
  EXPECT_EQ(counters.replies, 7 * played.num_exchanges);
  EXPECT_LT(played.num_exchanges, played.status.sequence) << "some things need no answer";
  EXPECT_EQ(counters.duplicates + counters.late + counters.resent, 0U);
}

TEST(Network, NoticesEveryDamagedFrame) {
  FaultCounts counts;
  const FaultConfig damage{.down = {.corrupt = 0.5}, .up = {.corrupt = 0.5}};
  const NetworkRun played = run_over_network("fedmf", damage, 2, counts);
  expect_same(played.outcome, fedhur::tests::run_in_process("fedmf"));
  EXPECT_GT(counts.noticed.load(), 0U);
  EXPECT_LE(counts.corrupted.load() - counts.noticed.load(), 20U) << "some were still on their way";
  EXPECT_EQ(played.status.counters.refused, 0U);
}

// Clients that never reply: two that do not exist, and one whose frames are all lost.
TEST(Network, GoesOnWithoutClientsThatNeverAnswer) {
  for (const char* method : {"fedhur", "fedncf"}) {
    Sites sites(method, {{0, 1}, {3, 6}});
    Sites silent(method, {{5}});
    Hub hub({.num_clients = 7, .quorum = 4, .deadline_seconds = 2, .format = {}}, {});
    FaultCounts counts;
    RunOutcome outcome;
    {
      FaultyCarrier carrier(hub, {}, Rng(3), counts);
      FaultyCarrier nowhere(hub, {.down = {.drop = 1}, .up = {.drop = 1}}, Rng(4), counts);
      sites.connect(carrier);
      silent.connect(nowhere);
      (void)sites.play(hub, outcome);
      hub.close("done");
    }
    EXPECT_EQ(std::ssize(outcome.losses), fedhur::tests::kRounds) << method;
    EXPECT_THAT(ids_of(hub.take_absentees()), ElementsAre(2, 4, 5)) << method;
    EXPECT_THAT(ids_of(hub.status().absent), ElementsAre(2, 4, 5)) << method;
  }
}
}  // namespace
}  // namespace fedhur::transport
