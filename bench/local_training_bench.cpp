// One local epoch of a client at the sizes of ML-100K and ML-1M: triples per second.
#include <benchmark/benchmark.h>

#include "fedhur/base/parallel.hpp"
#include "fedhur/base/random_matrix.hpp"
#include "fedhur/client/local_training.hpp"
#include "fedhur/linalg/adam.hpp"

namespace fedhur {
namespace {
data::UserItems random_lists(Index num_users, Index num_items, Index per_user) {
  Rng rng(1);
  std::vector<std::vector<ItemId>> lists(static_cast<std::size_t>(num_users));
  for (auto& list : lists) {
    for (Index i = 0; i < per_user; ++i) {
      list.push_back(item_id(static_cast<Index>(rng.below(static_cast<std::uint64_t>(num_items)))));
    }
  }
  return data::UserItems(lists);
}

void BM_LocalEpoch(benchmark::State& state) {
  const Index num_items = state.range(1);
  client::LocalTrainingConfig config;
  config.local_epochs = 1;
  client::LocalTraining training(config,
                                 {.id = client_id(0),
                                  .train = random_lists(state.range(0), num_items, state.range(2)),
                                  .num_items = num_items,
                                  .rng = Rng(1)});
  training.draw_item_embeddings();
  const FlushDenormals flush;
  Round round = 0;
  double samples = 0;
  for (auto _ : state) samples += training.train(round++).num_samples;
  state.SetItemsProcessed(static_cast<std::int64_t>(samples));
}
BENCHMARK(BM_LocalEpoch)
    ->ArgNames({"users", "items", "per_user"})
    ->Args({9, 1682, 80})     // a block of ML-100K
    ->Args({60, 3706, 119});  // a block of ML-1M

// The part that does not depend on the data: one dense step over the item table.
void BM_AdamStep(benchmark::State& state) {
  const Index rows = state.range(0);
  linalg::Adam adam(rows, 128);
  Matrix parameters = normal_matrix(rows, 128, 0.1F, Rng(1));
  linalg::RowGradient gradient(rows, 128);
  for (Index row = 0; row < rows; ++row) {
    gradient.touch(row);
    gradient.row(row)[row % 128] = 0.1F;
  }
  const FlushDenormals flush;
  for (auto _ : state) adam.step(parameters, gradient, 1e-3F);
  state.SetItemsProcessed(state.iterations() * parameters.size());
}
BENCHMARK(BM_AdamStep)->ArgName("items")->Arg(1682)->Arg(3706);
}  // namespace
}  // namespace fedhur
