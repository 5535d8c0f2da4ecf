#include "fedhur/linalg/blas.hpp"

extern "C" void openblas_set_num_threads(int num_threads);

namespace fedhur::linalg {
void use_one_blas_thread() { openblas_set_num_threads(1); }
}  // namespace fedhur::linalg
