// Whatever a network does to frames, a run over it ends with the same bits as one in a process, as
// long as nobody misses a deadline.
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

// The clients of some sites, of which some may not exist.
class Sites {
 public:
  Sites(const std::string& method, const std::vector<std::vector<Index>>& clients)
      : run(tiny_settings(method)) {
    for (const auto& own : clients) {
      std::vector<HostedClient> hosted;
      for (const Index client : own) {
        hosted.push_back({client_id(client), run.clients[static_cast<std::size_t>(client)].get()});
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
  void play(Hub& hub, RunOutcome& outcome) const {
    for (Round round = 0; round < fedhur::tests::kRounds; ++round) {
      play_round(round, *run.server, hub, run.config.evaluation.cutoffs, outcome);
    }
  }
  MethodRun run;

 private:
  std::vector<std::unique_ptr<Executor>> executors_;
  std::vector<std::unique_ptr<Site>> sites_;
};

RunOutcome run_over_network(const std::string& method, const FaultConfig& faults,
                            std::uint64_t seed, FaultCounts& counts, HubStatus& status) {
  RunOutcome outcome;
  const Index num_clients = 7;
  Sites sites(method, fedhur::tests::divide_among_sites(num_clients, seed));
  Hub hub(
      {.num_clients = num_clients, .deadline_seconds = 120, .format = sites.run.config.wire.format},
      {});
  {
    FaultyCarrier carrier(hub, faults, Rng(seed), counts);
    sites.connect(carrier);
    sites.play(hub, outcome);
    status = hub.status();
    hub.close("done");
  }
  for (std::size_t k = 0; k < sites.run.clients.size(); ++k) {
    outcome.client_states.push_back(sites.run.client_state(k));
  }
  outcome.server_state = sites.run.server_state();
  return outcome;
}

class Faults : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Methods, Faults, testing::Values("fedmf", "fedcia", "fedhur", "fedncf"),
                         [](const auto& given) { return given.param; });

TEST_P(Faults, ChangeNotABitOfARun) {
  const RunOutcome expected = fedhur::tests::run_in_process(GetParam());
  FaultCounts counts;
  for (std::uint64_t seed = 0; seed < fedhur::tests::kFaultSeeds; ++seed) {
    HubStatus status;
    expect_same(run_over_network(GetParam(), fedhur::tests::many_faults(), seed, counts, status),
                expected);
    EXPECT_EQ(status.counters.refused, 0U) << "what is damaged does not reach the hub";
    EXPECT_EQ(status.counters.replies, 7 * status.sequence) << "one of each client and exchange";
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
  HubStatus status;
  const FaultConfig quiet{.down = {}, .up = {}, .beat = std::chrono::seconds(60)};
  expect_same(run_over_network("fedmf", quiet, 2, counts, status),
              fedhur::tests::run_in_process("fedmf"));
  EXPECT_EQ(status.counters.replies, 7 * status.sequence);
  EXPECT_EQ(status.counters.duplicates + status.counters.late + status.counters.resent, 0U);
}

TEST(Network, NoticesEveryDamagedFrame) {
  FaultCounts counts;
  HubStatus status;
  const FaultConfig damage{.down = {.corrupt = 0.5}, .up = {.corrupt = 0.5}};
  expect_same(run_over_network("fedmf", damage, 2, counts, status),
              fedhur::tests::run_in_process("fedmf"));
  EXPECT_GT(counts.noticed.load(), 0U);
  EXPECT_LE(counts.corrupted.load() - counts.noticed.load(), 20U) << "some were still on their way";
  EXPECT_EQ(status.counters.refused, 0U);
}

// Clients that are never heard of: two that do not exist, and one whose frames are all lost.
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
      sites.play(hub, outcome);
      hub.close("done");
    }
    EXPECT_EQ(std::ssize(outcome.losses), fedhur::tests::kRounds) << method;
    EXPECT_THAT(ids_of(hub.take_absentees()), ElementsAre(2, 4, 5)) << method;
    EXPECT_THAT(ids_of(hub.status().absent), ElementsAre(2, 4, 5)) << method;
  }
}
}  // namespace
}  // namespace fedhur::transport
