// Whole rounds with evaluation of validation and test, at the size of ML-100K (100 clients, 943
// users, 1682 items, 100,000 interactions, d 128), by method, local epochs and threads. Counters
// are the seconds of each phase.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/simulation.hpp"

namespace fedhur::bench {
namespace {
void run_rounds(benchmark::State& state, const std::string& method) {
  Simulation simulation(
      {"method=" + method, "synthetic.num_users=943", "synthetic.num_items=1682",
       "synthetic.num_interactions=100000", fmt::format("train.local_epochs={}", state.range(0))},
      state.range(1));
  (void)simulation.run_round();  // the first starts from nothing
  std::map<std::string, double> seconds;
  for (auto _ : state) {
    for (const auto& [phase, value] : simulation.run_round()) seconds[phase] += value;
    benchmark::DoNotOptimize(simulation.evaluate());
  }
  for (const auto& [phase, value] : seconds) {
    state.counters[phase] = benchmark::Counter(1e3 * value, benchmark::Counter::kAvgIterations);
  }
  state.SetItemsProcessed(state.iterations());
}

void add(const std::string& method) {
  benchmark::RegisterBenchmark(("BM_Round/" + method).c_str(),
                               [method](benchmark::State& state) { run_rounds(state, method); })
      ->ArgNames({"local_epochs", "threads"})
      ->Args({1, 1})
      ->Args({1, 2})
      ->Args({10, 1})
      ->Args({10, 2})
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}
}  // namespace

void register_round_benchmarks() {
  for (const std::string method : {"fedmf", "fedcia", "fedhur"}) add(method);
}
}  // namespace fedhur::bench
