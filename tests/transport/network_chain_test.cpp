// Clients whose every answer depends on all before, in their order: one task that is lost or worked
// on twice changes all that follows. They cost nothing, so that a network can be tried many times.
#include <cmath>

#include "tests/support/faulty_carrier.hpp"
#include "tests/transport/network_support.hpp"

namespace fedhur::transport {
namespace {
using fedhur::tests::FaultConfig;
using fedhur::tests::FaultCounts;
using fedhur::tests::FaultyCarrier;

constexpr Index kClients = 5;
constexpr Sequence kExchanges = 12;

class ChainClient : public federation::ClientMethod {
 public:
  explicit ChainClient(Index id) : chain_(static_cast<double>(id)) {}
  [[nodiscard]] Message answer(const Message& request) override {
    const double asked = request.arrays.number("value");
    chain_ = std::fmod(31 * chain_ + asked + static_cast<double>(request.round) + 7, 1e6 + 3);
    return make_message(request.kind, chain_, request.round);
  }

 private:
  double chain_;
};

// What clients answer is what they are asked next.
std::vector<double> play(federation::Federation& federation) {
  std::vector<double> sums;
  for (Sequence i = 0; i < kExchanges; ++i) {
    const double asked = sums.empty() ? 1 : sums.back();
    double sum = 0;
    for (const auto& [client, value] : values_of(federation::ask_all(
             federation,
             make_message(i % 2 == 0 ? "train" : "update", asked, static_cast<Round>(i / 2))))) {
      sum += value * (client + 1);
    }
    sums.push_back(sum);
  }
  return sums;
}

class Directly : public federation::Federation {
 public:
  [[nodiscard]] Index num_clients() const override { return kClients; }
  std::vector<Answer> exchange(std::span<const Request> requests) override {
    std::vector<Answer> answers;
    for (const Request& request : requests) {
      answers.push_back({request.client, clients_[static_cast<std::size_t>(request.client)].answer(
                                             *request.message)});
    }
    return answers;
  }

 private:
  std::vector<ChainClient> clients_ = {ChainClient(0), ChainClient(1), ChainClient(2),
                                       ChainClient(3), ChainClient(4)};
};

std::vector<double> play_over_network(const FaultConfig& faults, std::uint64_t seed,
                                      FaultCounts& counts) {
  std::vector<std::unique_ptr<ChainClient>> clients;
  std::vector<std::vector<HostedClient>> hosted(1 + seed % kClients);
  for (Index client = 0; client < kClients; ++client) {
    clients.push_back(std::make_unique<ChainClient>(client));
    hosted[static_cast<std::size_t>(client) % hosted.size()].push_back(
        {client_id(client), clients.back().get()});
  }
  std::vector<std::unique_ptr<Site>> sites;
  std::vector<std::unique_ptr<Executor>> executors;
  for (const auto& own : hosted) {
    executors.push_back(std::make_unique<Executor>(2));
    sites.push_back(std::make_unique<Site>(own, *executors.back(), message::WireFormat{}));
  }
  const TempFolder folder;
  ReplyJournal journal(folder / "journal");
  Hub hub({.num_clients = kClients, .deadline_seconds = 120, .format = {}}, {},
          seed % 4 == 0 ? &journal : nullptr);
  FaultyCarrier carrier(hub, faults, Rng(seed), counts);
  for (const auto& site : sites) carrier.add("a site", [&site] { return site.get(); });
  const auto sums = play(hub);
  EXPECT_EQ(hub.status().counters.replies, kClients * kExchanges);
  hub.close("done");
  return sums;
}

struct Weather {
  const char* name;
  FaultConfig faults;
};
class Chain : public testing::TestWithParam<Weather> {};
INSTANTIATE_TEST_SUITE_P(
    Weather, Chain,
    testing::Values(
        Weather{"Fair", {}}, Weather{"Lossy", {.down = {.drop = 0.25}, .up = {.drop = 0.25}}},
        Weather{"Doubling",
                {.down = {.duplicate = 0.8, .delay = 0.5}, .up = {.duplicate = 0.8, .delay = 0.5}}},
        Weather{"Breaking", {.down = {.disconnect = 0.3}, .up = {.disconnect = 0.1}}},
        Weather{
            "Everything",
            {.down =
                 {.drop = 0.15, .duplicate = 0.3, .corrupt = 0.15, .delay = 0.5, .disconnect = 0.1},
             .up = {.drop = 0.15,
                    .duplicate = 0.3,
                    .corrupt = 0.15,
                    .delay = 0.5,
                    .disconnect = 0.03}}}),
    [](const auto& given) { return std::string(given.param.name); });

TEST_P(Chain, HoldsInAnyWeather) {
  Directly directly;
  const auto expected = play(directly);
  FaultCounts counts;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ASSERT_EQ(play_over_network(GetParam().faults, seed, counts), expected) << "seed " << seed;
  }
  RecordProperty("frames", std::to_string(counts.frames));
}
}  // namespace
}  // namespace fedhur::transport
