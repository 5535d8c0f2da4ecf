// OpenBLAS works beneath our own threads: it must start none of its own, and stand being called by
// ours.
#pragma once
#include "fedhur/base/matrix.hpp"

namespace fedhur::linalg {
// Once per process, before the first product. ConfigError if the installed OpenBLAS is the serial
// flavour and there is more than one thread: that flavour hands two callers the same buffer, and
// some products come out wrong.
void prepare_blas(Index num_threads);
}  // namespace fedhur::linalg
