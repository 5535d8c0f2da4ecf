// Programs begin here: with kernels that suit the CPU, or once more.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "fedhur/linalg/blas.hpp"

namespace fedhur::apps {
// Starts this program again, with the same arguments, if OpenBLAS has chosen kernels far too old
// for this CPU. Not if OPENBLAS_CORETYPE is set. If it cannot be started again, it goes on as it
// is.
inline void restart_with_better_kernels(char** argv) {
  constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  if (std::getenv(kVariable) != nullptr) return;
  const auto kernels = linalg::find_better_kernels();
  if (!kernels || ::setenv(kVariable, kernels->c_str(), 1) != 0) return;
  // By its own path: a process that was started as /proc/self/exe is called "exe".
  std::error_code ignored;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", ignored);
  (void)::execv(path.c_str(), argv);
}
}  // namespace fedhur::apps
