// FedHUR rounds from 1,000 to 200,000 items (100 clients of 10 users with 100 interactions each, d
// 64): time and memory per item should stay the same. Cases run in rising order because the peak of
// memory is that of the process so far; run one alone with --benchmark_filter for its own peak.
#include <benchmark/benchmark.h>

#include <cmath>
#include <set>

#include "bench/simulation.hpp"
#include "fedhur/experiment/manifest.hpp"

namespace fedhur::bench {
namespace {
// Few items are popular: the rank of an item falls as a power of a uniform number.
data::UserItems draw_users(Index num_users, Index num_items, Rng rng) {
  std::vector<std::vector<ItemId>> lists;
  for (Index user = 0; user < num_users; ++user) {
    std::set<Index> items;
    while (items.size() < 100) {
      items.insert(
          static_cast<Index>(std::pow(rng.uniform(), 2.5) * static_cast<double>(num_items)));
    }
    auto& list = lists.emplace_back();
    for (const Index item : items) list.push_back(item_id(item));
  }
  return data::UserItems(lists);
}

void BM_RoundByItems(benchmark::State& state) {
  const Index num_items = state.range(0);
  std::vector<data::ClientData> client_data;
  for (Index client = 0; client < 100; ++client) {
    std::vector<UserId> users;
    for (Index user = 0; user < 10; ++user) users.push_back(user_id(10 * client + user));
    const data::UserItems nothing(std::vector<std::vector<ItemId>>(10));
    client_data.push_back(
        {.users = users,
         .train = draw_users(10, num_items, Rng(7).stream(Draw::synthetic, client)),
         .valid = nothing,
         .test = nothing});
  }
  Simulation simulation({"method=fedhur", "model.embedding_dim=64"}, 2, std::move(client_data),
                        num_items);
  (void)simulation.run_round();  // the first starts from nothing
  for (auto _ : state) (void)simulation.run_round();
  state.counters["per_million_items"] = benchmark::Counter(
      static_cast<double>(num_items) * 1e-6,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["peak_mb"] = experiment::peak_rss_mb();
}
BENCHMARK(BM_RoundByItems)
    ->ArgName("items")
    ->Arg(1000)
    ->Arg(5000)
    ->Arg(20000)
    ->Arg(80000)
    ->Arg(200000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
}  // namespace
}  // namespace fedhur::bench
