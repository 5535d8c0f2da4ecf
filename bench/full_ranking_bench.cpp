// Full ranking of all users at the sizes of ML-100K and ML-1M: users per second, for 1 and 2
// threads; and the selection of the best ten against sorting everything.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>

#include "fedhur/base/parallel.hpp"
#include "fedhur/base/random_matrix.hpp"
#include "fedhur/evaluate/full_ranking.hpp"
#include "fedhur/model/matrix_factorization.hpp"

namespace fedhur {
namespace {
void BM_RankAllUsers(benchmark::State& state) {
  const Index users_per_client = state.range(0);
  const Index num_items = state.range(1);
  constexpr Index kClients = 100;
  model::MatrixFactorization model;
  model.user_vectors = normal_matrix(users_per_client, 128, 0.1F, Rng(1));
  model.item_embeddings =
      std::make_shared<const Matrix>(normal_matrix(num_items, 128, 0.1F, Rng(2)));
  std::vector<std::vector<ItemId>> lists(static_cast<std::size_t>(users_per_client));
  Rng rng(3);
  for (auto& list : lists) {
    for (int i = 0; i < 20; ++i)
      list.push_back(item_id(static_cast<Index>(rng.below(static_cast<std::uint64_t>(num_items)))));
  }
  const data::UserItems some(lists);
  const data::ClientData data{.users = {}, .train = some, .valid = some, .test = some};
  const Executor executor(state.range(2));
  for (auto _ : state) {
    executor.for_each(kClients, [&](Index) {
      benchmark::DoNotOptimize(evaluate::rank_all_users(model, data, {10}));
    });
  }
  state.SetItemsProcessed(state.iterations() * kClients * users_per_client);
}
BENCHMARK(BM_RankAllUsers)
    ->ArgNames({"users_per_client", "items", "threads"})
    ->Args({9, 1682, 1})
    ->Args({9, 1682, 2})
    ->Args({60, 3706, 1})
    ->Args({60, 3706, 2})
    ->UseRealTime();

std::vector<Real> random_scores(Index count) {
  const Matrix scores = normal_matrix(1, count, 1, Rng(1));
  return {scores.data(), scores.data() + count};
}

void BM_TopItems(benchmark::State& state) {
  const std::vector<Real> scores = random_scores(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(evaluate::top_items(scores, 10));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_TopItems)->ArgName("items")->Arg(1682)->Arg(3706)->Arg(100000);

void BM_SortAllItems(benchmark::State& state) {  // what top_items saves
  const std::vector<Real> scores = random_scores(state.range(0));
  std::vector<Index> order(scores.size());
  for (auto _ : state) {
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(), [&](Index a, Index b) {
      return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
    });
    benchmark::DoNotOptimize(order.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_SortAllItems)->ArgName("items")->Arg(1682)->Arg(3706)->Arg(100000);
}  // namespace
}  // namespace fedhur
