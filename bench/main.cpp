#include <benchmark/benchmark.h>

#include "apps/restart.hpp"
#include "fedhur/base/memory.hpp"
#include "fedhur/linalg/blas.hpp"

namespace fedhur::bench {
void register_round_benchmarks();
}  // namespace fedhur::bench

int main(int argc, char** argv) {
  fedhur::apps::restart_with_better_kernels(argv);
  fedhur::keep_freed_memory();
  fedhur::linalg::prepare_blas(2);
  fedhur::bench::register_round_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
