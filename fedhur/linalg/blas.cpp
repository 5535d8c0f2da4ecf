#include "fedhur/linalg/blas.hpp"

#include "fedhur/base/error.hpp"

extern "C" void openblas_set_num_threads(int num_threads);
extern "C" int openblas_get_parallel();

namespace fedhur::linalg {
void prepare_blas(Index num_threads) {
  constexpr int kSerial = 0;
  if (num_threads > 1 && openblas_get_parallel() == kSerial) {
    throw ConfigError(
        "the installed OpenBLAS is the serial flavour, which is not safe to call from several "
        "threads: install libopenblas0-pthread, or use --threads 1");
  }
  openblas_set_num_threads(1);
}
}  // namespace fedhur::linalg
