#include "fedhur/base/parallel.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace fedhur {
namespace {
TEST(Executor, VisitsEveryIndexOnce) {
  for (const Index threads : {1, 2, 5}) {
    const Executor executor(threads);
    std::vector<int> visits(257, 0);
    executor.for_each(257, [&](Index i) { ++visits[static_cast<std::size_t>(i)]; });
    executor.for_each(0, [&](Index) { FAIL() << "nothing to do"; });
    EXPECT_EQ(visits, std::vector<int>(257, 1)) << threads;
  }
}

TEST(Executor, SumsToTheSameBitsForAnyNumberOfThreads) {
  const auto term = [](Index i) { return 1.0 / (1.0 + static_cast<double>(i)); };
  const double alone = Executor(1).sum(1001, term);
  EXPECT_EQ(alone, Executor(2).sum(1001, term));
  EXPECT_EQ(alone, Executor(7).sum(1001, term));
  EXPECT_EQ(Executor(2).sum(0, term), 0.0);
}

TEST(Executor, HandsTheExceptionOnAndStaysUsable) {
  const Executor executor(3);
  EXPECT_THROW(executor.for_each(50,
                                 [](Index i) {
                                   if (i == 20) throw std::runtime_error("x");
                                 }),
               std::runtime_error);
  int count = 0;
  executor.for_each(1, [&](Index) { ++count; });
  EXPECT_EQ(count, 1);
}

TEST(Executor, FlushesDenormalsInsideTasksOnly) {
  volatile float tiny = std::numeric_limits<float>::min();
  volatile float quarter = 0.25F;
  volatile float inside = 1;
  Executor(1).for_each(1, [&](Index) { inside = tiny * quarter; });
  const volatile float outside = tiny * quarter;
  EXPECT_EQ(inside, 0.0F);
  EXPECT_GT(outside, 0.0F);
}
}  // namespace
}  // namespace fedhur
