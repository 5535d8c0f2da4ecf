// How long a round takes that sends and receives a megabyte for each of a hundred sites. Not a
// test: it prints, and people judge.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "fedhur/message/wire_codec.hpp"
#include "tests/transport/grpc_pki.hpp"
#include "tests/transport/grpc_support.hpp"

namespace fedhur::transport {
namespace {
using Clock = std::chrono::steady_clock;
constexpr Index kNumSites = 100;
constexpr Index kNumFloats = 250'000;
constexpr int kNumRounds = 7;

struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;  // of all threads: what the other load of the machine does not change
};

Cost cost_of(const std::function<void()>& action) {
  const auto begin = Clock::now();
  const auto cpu_begin = std::clock();
  action();
  return {.seconds = std::chrono::duration<double>(Clock::now() - begin).count(),
          .cpu_seconds = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC};
}

Cost median(std::vector<Cost> costs) {
  std::ranges::sort(costs, {}, &Cost::seconds);
  return costs[costs.size() / 2];
}

std::vector<federation::Request> make_requests() {
  std::vector<federation::Request> requests;
  for (Index client = 0; client < kNumSites; ++client) {
    requests.push_back({client_id(client), std::make_shared<const Message>(make_message(
                                               "work", static_cast<double>(client), kNumFloats))});
  }
  return requests;
}

// What server and clients do with the bytes, over any transport.
Cost measure_codec(const std::vector<federation::Request>& requests, const Executor& executor) {
  return cost_of([&] {
    executor.for_each(kNumSites, [&](Index i) {
      const Message& message = *requests[static_cast<std::size_t>(i)].message;
      for (int direction = 0; direction < 2; ++direction) {
        (void)message::decode(message::encode(message));
      }
    });
  });
}

Cost measure(const std::vector<federation::Request>& requests, const Security& server_security,
             const Security& site_security) {
  Hub hub({.num_clients = kNumSites, .quorum = 0, .deadline_seconds = 60, .format = {}}, {});
  GrpcServerConfig server_config;
  server_config.security = server_security;
  server_config.welcome = {.run_id = "run", .configuration = {}, .num_clients = kNumSites};
  GrpcServer server(server_config, hub, {});
  std::vector<std::unique_ptr<Household>> households;
  std::vector<std::unique_ptr<RunningSite>> sites;
  for (int client = 0; client < kNumSites; ++client) {
    households.push_back(std::make_unique<Household>(std::vector{client}));
    HubConnectionConfig config;
    config.server = fmt::format("127.0.0.1:{}", server.port());
    config.security = site_security;
    config.clients = households.back()->ids();
    sites.push_back(std::make_unique<RunningSite>(*households.back(), config));
  }
  if (!hub.wait_for_clients({})) return {};
  std::vector<Cost> costs;
  for (int round = 0; round < kNumRounds; ++round) {
    costs.push_back(cost_of([&] { (void)hub.exchange(requests); }));
  }
  server.close({.is_finished = true, .reason = "measured"});
  return median(costs);
}

void print(const char* what, const Cost& cost, const Cost& codec) {
  const double megabytes = 2.0 * kNumSites * kNumFloats * sizeof(float) / 1e6;
  fmt::print("{:<10} {:4.0f} ms a round, {:4.0f} ms of CPU, {:4.0f} MB/s", what, 1e3 * cost.seconds,
             1e3 * cost.cpu_seconds, megabytes / cost.seconds);
  fmt::print("; without the codec {:4.0f} ms, {:4.0f} ms of CPU\n",
             1e3 * (cost.seconds - codec.seconds), 1e3 * (cost.cpu_seconds - codec.cpu_seconds));
}
}  // namespace
}  // namespace fedhur::transport

int main() {
  using namespace fedhur::transport;
  setenv(kTls13Only.first, kTls13Only.second, 1);
  const auto requests = make_requests();
  const fedhur::Executor executor(
      std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  const auto codec = measure_codec(requests, executor);
  print("codec", codec, codec);
  print("plaintext", measure(requests, {}, {}), codec);
  const TestAuthority authority;
  print("TLS", measure(requests, authority.server(), authority.site("site", "0-99")), codec);
}
