// OpenBLAS works beneath our own threads: it must start none of its own, and stand being called by
// ours.
#pragma once
#include <optional>
#include <string>

#include "fedhur/base/matrix.hpp"

namespace fedhur::linalg {
// Once per process, before the first product. ConfigError if the installed OpenBLAS is the serial
// flavour and there is more than one thread: that flavour hands two callers the same buffer, and
// some products come out wrong.
void prepare_blas(Index num_threads);

// What OPENBLAS_CORETYPE should say if OpenBLAS has chosen kernels far older than this CPU, nothing
// if it has chosen well. OpenBLAS 0.3.21 takes CPUs that are younger than itself for a Pentium 4:
// products take many times as long, and its dsymv of that age reads beyond the matrix and crashes.
// The choice is made while the process loads, so only a new process can change it.
[[nodiscard]] std::optional<std::string> find_better_kernels();
// The same for any CPU, by the name of the kernels in use.
struct CpuFeatures {
  bool has_avx2 = false;    // and FMA
  bool has_avx512 = false;  // F, CD, DQ, BW and VL
};
[[nodiscard]] std::optional<std::string> find_better_kernels(const std::string& in_use,
                                                             const CpuFeatures& features);
}  // namespace fedhur::linalg
