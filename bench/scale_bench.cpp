// FedHUR rounds from 1,000 to 200,000 items (100 clients, 1,000 users, 100,000 interactions, d 64):
// time and memory per item should stay the same. Cases run in rising order because the peak of
// memory is that of the process so far; run one alone with --benchmark_filter for its own peak.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/simulation.hpp"
#include "fedhur/experiment/manifest.hpp"

namespace fedhur::bench {
namespace {
void BM_RoundByItems(benchmark::State& state) {
  Simulation simulation(
      {"method=fedhur", "synthetic.num_users=1000", "synthetic.num_interactions=100000",
       fmt::format("synthetic.num_items={}", state.range(0)), "model.embedding_dim=64",
       "train.local_epochs=1"},
      2);
  (void)simulation.run_round();
  for (auto _ : state) (void)simulation.run_round();
  state.counters["us_per_item"] = benchmark::Counter(
      static_cast<double>(state.range(0)) * 1e-6 * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["peak_mb"] = experiment::peak_rss_mb();
}
BENCHMARK(BM_RoundByItems)
    ->ArgName("items")
    ->Arg(1000)
    ->Arg(5000)
    ->Arg(20000)
    ->Arg(80000)
    ->Arg(200000)
    ->Iterations(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
}  // namespace
}  // namespace fedhur::bench
