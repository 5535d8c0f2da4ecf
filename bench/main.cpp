#include <benchmark/benchmark.h>

#include "fedhur/base/memory.hpp"
#include "fedhur/linalg/blas.hpp"

int main(int argc, char** argv) {
  fedhur::keep_freed_memory();
  fedhur::linalg::use_one_blas_thread();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
