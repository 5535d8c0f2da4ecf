// A method's run over a network with faults, and what it leaves behind.
#pragma once
#include <gtest/gtest.h>

#include "fedhur/transport/in_process/in_process_federation.hpp"
#include "tests/support/faulty_carrier.hpp"
#include "tests/support/method_run.hpp"

namespace fedhur::tests {
constexpr Round kRounds = 3;

// A few seconds for each test, with a sanitizer as well.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kFaultSeeds = 3;
constexpr std::uint64_t kDeathSeeds = 2;
#else
constexpr std::uint64_t kFaultSeeds = 18;
constexpr std::uint64_t kDeathSeeds = 10;
#endif

// Everything, to the last bit.
struct RunOutcome {
  std::vector<double> losses;
  std::vector<std::map<std::string, double>> quality;  // of the test rows, by round
  std::vector<std::vector<std::byte>> client_states;
  std::vector<std::byte> server_state;
};

inline void expect_same(const RunOutcome& found, const RunOutcome& expected) {
  EXPECT_EQ(found.losses, expected.losses);
  EXPECT_EQ(found.quality, expected.quality);
  EXPECT_TRUE(found.server_state == expected.server_state);
  ASSERT_EQ(found.client_states.size(), expected.client_states.size());
  for (std::size_t k = 0; k < found.client_states.size(); ++k) {
    EXPECT_TRUE(found.client_states[k] == expected.client_states[k]) << "client " << k;
  }
}

inline void play_round(Round round, federation::ServerMethod& server,
                       federation::Federation& federation, const std::vector<Index>& cutoffs,
                       RunOutcome& outcome) {
  outcome.losses.push_back(server.run_round(round, federation).loss);
  outcome.quality.push_back(evaluate::evaluate_clients(federation, round, cutoffs).test.means());
}

// Without a network.
inline RunOutcome run_in_process(const std::string& method) {
  const MethodRun run(tiny_settings(method));
  transport::InProcessFederation federation(run.client_methods(), run.executor,
                                            run.config.wire.format);
  RunOutcome outcome;
  for (Round round = 0; round < kRounds; ++round) {
    play_round(round, *run.server, federation, run.config.evaluation.cutoffs, outcome);
  }
  for (std::size_t k = 0; k < run.clients.size(); ++k) {
    outcome.client_states.push_back(run.client_state(k));
  }
  outcome.server_state = run.server_state();
  return outcome;
}

// The clients of each site: 1 to 7 sites of different sizes.
inline std::vector<std::vector<Index>> divide_among_sites(Index num_clients, std::uint64_t seed) {
  std::vector<std::vector<Index>> sites(1 + seed % static_cast<std::uint64_t>(num_clients));
  for (Index client = 0; client < num_clients; ++client) {
    sites[static_cast<std::size_t>(client * client + client) % sites.size()].push_back(client);
  }
  std::erase_if(sites, [](const auto& clients) { return clients.empty(); });
  return sites;
}

// As bad as it gets while there is still a network.
inline FaultConfig many_faults() {
  return {
      .down = {.drop = 0.1, .duplicate = 0.15, .corrupt = 0.1, .delay = 0.3, .disconnect = 0.04},
      .up = {.drop = 0.1, .duplicate = 0.15, .corrupt = 0.1, .delay = 0.3, .disconnect = 0.01}};
}

inline void record(const FaultCounts& counts) {
  const auto put = [](const char* name, std::uint64_t value) {
    testing::Test::RecordProperty(name, std::to_string(value));
  };
  put("frames", counts.frames);
  put("dropped", counts.dropped);
  put("duplicated", counts.duplicated);
  put("corrupted", counts.corrupted);
  put("delayed", counts.delayed);
  put("disconnected", counts.disconnected);
  put("died", counts.died);
}
}  // namespace fedhur::tests
