#include <benchmark/benchmark.h>

#include "fedhur/base/memory.hpp"
#include "fedhur/linalg/blas.hpp"

int main(int argc, char** argv) {
  fedhur::keep_freed_memory();
  fedhur::linalg::prepare_blas(2);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
