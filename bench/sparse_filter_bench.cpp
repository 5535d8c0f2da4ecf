// The fit of a sparse item filter: items per second on a few thousand items of which most pairs
// occur together, as in ML-1M, and from 20,000 to 1,000,000 items of which few do, where time per
// item should stay the same. The peak of memory is that of the process so far: cases run in rising
// order, and one alone (--benchmark_filter) tells its own.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "fedhur/base/random.hpp"
#include "fedhur/client/co_occurrences.hpp"
#include "fedhur/experiment/manifest.hpp"
#include "fedhur/server/sparse_filter.hpp"

namespace fedhur {
namespace {
// Few items are popular: the rank of an item falls as a power of a uniform number.
data::UserItems draw_users(Index num_users, Index num_items, Index per_user, double skew) {
  std::vector<std::vector<ItemId>> lists;
  const Rng rng(7);
  for (Index user = 0; user < num_users; ++user) {
    Rng own = rng.stream(Draw::synthetic, user);
    std::vector<Index> items;
    for (Index i = 0; i < per_user; ++i) {
      items.push_back(
          static_cast<Index>(std::pow(own.uniform(), skew) * static_cast<double>(num_items)));
    }
    std::ranges::sort(items);
    items.erase(std::unique(items.begin(), items.end()), items.end());
    auto& list = lists.emplace_back();
    for (const Index item : items) list.push_back(item_id(item));
  }
  return data::UserItems(lists);
}

void fit(benchmark::State& state, const data::UserItems& users, Index num_items, Index neighbors) {
  const server::CoOccurrences sum = client::count_co_occurrences(users, num_items, 0.5);
  const Executor executor(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(server::fit_sparse_filter(sum, static_cast<double>(client::kWholeUser),
                                                       {.neighbors = neighbors}, executor));
  }
  state.SetItemsProcessed(state.iterations() * num_items);
  state.counters["per_million_items"] = benchmark::Counter(
      static_cast<double>(num_items) * 1e-6,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["pairs_per_item"] =
      static_cast<double>(sum.num_entries()) / static_cast<double>(num_items);
  state.counters["peak_mb"] = experiment::peak_rss_mb();
}

void BM_FitDense(benchmark::State& state) {
  const Index num_items = state.range(0);
  fit(state, draw_users(6000, num_items, 150, 1.5), num_items, 200);
}
BENCHMARK(BM_FitDense)->ArgName("items")->Arg(3700)->Unit(benchmark::kMillisecond);

// One user per item with 15 draws each, so the rows of an item do not grow with the catalogue.
void BM_FitByItems(benchmark::State& state) {
  const Index num_items = state.range(0);
  fit(state, draw_users(num_items, num_items, 15, 1.3), num_items, state.range(1));
}
BENCHMARK(BM_FitByItems)
    ->ArgNames({"items", "neighbors"})
    ->Args({20000, 200})
    ->Args({50000, 200})
    ->Args({100000, 200})
    ->Args({200000, 200})
    ->Args({20000, 50})
    ->Args({200000, 50})
    ->Args({1000000, 50})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
}  // namespace
}  // namespace fedhur
