#include "fedhur/linalg/blas.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "fedhur/base/error.hpp"

extern "C" void openblas_set_num_threads(int num_threads);
extern "C" int openblas_get_parallel();
extern "C" char* openblas_get_corename();

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

std::optional<std::string> find_better_kernels(const std::string& in_use,
                                               const CpuFeatures& features) {
  // Kernels from before AVX2. Whatever is not in this list is at least as wide as we could ask for.
  constexpr std::array<std::string_view, 14> kOld = {
      "Generic", "Katmai", "Coppermine", "Northwood", "Prescott", "Banias",  "Atom",
      "Core2",   "Penryn", "Dunnington", "Nehalem",   "Athlon",   "Opteron", "Sandybridge"};
  constexpr std::array<std::string_view, 5> kOldAmd = {"Opteron_SSE3", "Barcelona", "Bobcat",
                                                       "Nano", "Unknown"};
  const auto is_in = [&](const auto& names) {
    return std::ranges::find(names, in_use) != names.end();
  };
  if (!is_in(kOld) && !is_in(kOldAmd)) return std::nullopt;
  if (features.has_avx512) return "SKYLAKEX";
  if (features.has_avx2) return "HASWELL";
  return std::nullopt;
}

std::optional<std::string> find_better_kernels() {
#if defined(__x86_64__)
  const CpuFeatures features{
      .has_avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0,
      .has_avx512 =
          __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
          __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
          __builtin_cpu_supports("avx512vl") != 0};
  return find_better_kernels(openblas_get_corename(), features);
#else
  return std::nullopt;
#endif
}
}  // namespace fedhur::linalg
