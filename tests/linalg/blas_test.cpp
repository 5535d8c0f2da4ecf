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
}  // namespace
}  // namespace fedhur::linalg
