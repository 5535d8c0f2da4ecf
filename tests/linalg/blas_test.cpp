#include "fedhur/linalg/blas.hpp"

#include <gtest/gtest.h>

#include "fedhur/base/parallel.hpp"
#include "tests/support/support.hpp"

namespace fedhur::linalg {
namespace {
TEST(Blas, GivesTheSameBitsToThreadsThatMultiplyAtOnce) {
  constexpr Index kThreads = 4;
  prepare_blas(kThreads);
  const Matrix a = tests::random_matrix(9, 128, 1);
  const Matrix b = tests::random_matrix(60, 128, 2);
  const Matrix alone = a * b.transpose();
  std::vector<int> num_wrong(kThreads, 0);
  Executor(kThreads).for_each(kThreads, [&](Index thread) {
    for (int i = 0; i < 20000; ++i) {
      const Matrix product = a * b.transpose();
      if (product != alone) ++num_wrong[static_cast<std::size_t>(thread)];
    }
  });
  EXPECT_EQ(num_wrong, std::vector<int>(kThreads, 0));
}

TEST(Blas, KernelsOlderThanTheCpuAreReplaced) {
  const CpuFeatures narrow;
  const CpuFeatures avx2{.has_avx2 = true, .has_avx512 = false};
  const CpuFeatures avx512{.has_avx2 = true, .has_avx512 = true};
  EXPECT_EQ(find_better_kernels("Prescott", avx512), "SKYLAKEX");
  EXPECT_EQ(find_better_kernels("Prescott", avx2), "HASWELL");
  EXPECT_EQ(find_better_kernels("Sandybridge", avx2), "HASWELL");
  EXPECT_EQ(find_better_kernels("Prescott", narrow), std::nullopt) << "the CPU is that old";
  for (const char* wide : {"Haswell", "Zen", "SkylakeX", "Cooperlake", "Sapphirerapids"}) {
    EXPECT_EQ(find_better_kernels(wide, avx512), std::nullopt) << wide;
  }
}

// The programs begin anew with better ones, so there are none left to be found.
TEST(Blas, HasKernelsThatSuitThisCpu) { EXPECT_EQ(find_better_kernels(), std::nullopt); }
}  // namespace
}  // namespace fedhur::linalg
