// An upload of one item table through the codec and back: bytes per second.
#include <benchmark/benchmark.h>

#include "fedhur/base/random.hpp"
#include "fedhur/base/random_matrix.hpp"
#include "fedhur/message/wire_codec.hpp"

namespace fedhur {
namespace {
void BM_EncodeDecode(benchmark::State& state) {
  message::Message message{.kind = "train", .round = 1, .arrays = {}};
  message.arrays.set("item_embeddings", normal_matrix(state.range(0), 128, 0.1F, Rng(1)));
  for (auto _ : state) benchmark::DoNotOptimize(message::decode(message::encode(message)));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(message::encoded_size(message)));
}
BENCHMARK(BM_EncodeDecode)->ArgName("items")->Arg(1682)->Arg(3706);
}  // namespace
}  // namespace fedhur
