// An upload of one item table through the codec and back, and what a process does instead: bytes
// of floats per second.
#include <benchmark/benchmark.h>

#include "fedhur/base/random.hpp"
#include "fedhur/base/random_matrix.hpp"
#include "fedhur/message/wire_codec.hpp"

namespace fedhur {
namespace {
message::Message make_upload(Index num_items) {
  message::Message message{.kind = "train", .round = 1, .arrays = {}};
  message.arrays.set("item_embeddings", normal_matrix(num_items, 128, 0.1F, Rng(1)));
  return message;
}

void note_bytes(benchmark::State& state, const message::Message& message,
                const message::WireFormat& format) {
  state.SetLabel(name_of(format.precision));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(fedhur::encoded_size(message.arrays)));
  state.counters["share"] = static_cast<double>(message::encoded_size(message, format)) /
                            static_cast<double>(fedhur::encoded_size(message.arrays));
}

void BM_Encode(benchmark::State& state) {
  const message::WireFormat format{static_cast<message::Precision>(state.range(1))};
  const message::Message message = make_upload(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(message::encode(message, format));
  note_bytes(state, message, format);
}
BENCHMARK(BM_Encode)->ArgNames({"items", "precision"})->ArgsProduct({{1682, 3706}, {0, 1, 2}});

void BM_Decode(benchmark::State& state) {
  const message::WireFormat format{static_cast<message::Precision>(state.range(1))};
  const message::Message message = make_upload(state.range(0));
  const auto bytes = message::encode(message, format);
  for (auto _ : state) benchmark::DoNotOptimize(message::decode(bytes));
  note_bytes(state, message, format);
}
BENCHMARK(BM_Decode)->ArgNames({"items", "precision"})->ArgsProduct({{1682, 3706}, {0, 1, 2}});

void BM_EncodedSize(benchmark::State& state) {  // what counting an upload costs
  const message::WireFormat format{static_cast<message::Precision>(state.range(1))};
  const message::Message message = make_upload(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(message::encoded_size(message, format));
  note_bytes(state, message, format);
}
BENCHMARK(BM_EncodedSize)->ArgNames({"items", "precision"})->ArgsProduct({{1682, 3706}, {0, 1, 2}});

void BM_Transmit(benchmark::State& state) {
  const message::WireFormat format{static_cast<message::Precision>(state.range(1))};
  const message::Message message = make_upload(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(message::transmit(message, format));
  note_bytes(state, message, format);
}
BENCHMARK(BM_Transmit)->ArgNames({"items", "precision"})->ArgsProduct({{1682}, {1, 2}});
}  // namespace
}  // namespace fedhur
