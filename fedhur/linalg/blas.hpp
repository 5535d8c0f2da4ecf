// OpenBLAS works beneath our own threads and must not start its own.
#pragma once

namespace fedhur::linalg {
// Needed once per process where the threaded flavour of OpenBLAS is installed; harmless elsewhere.
void use_one_blas_thread();
}  // namespace fedhur::linalg
