#include "fedhur/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace fedhur {
namespace {
TEST(Rng, GivesTheSameNumbersForTheSameSeed) {
  Rng a(7);
  Rng b(7);
  Rng c(8);
  const auto first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
}

TEST(Rng, HasFixedDigitsThatNoLibraryUpdateMayChange) {
  Rng rng(42);
  EXPECT_EQ(rng.next(), 15021278609987233951ULL);
  EXPECT_EQ(Rng(42).stream(Draw::split, 3).next(), 9705810626126913677ULL);
}

TEST(Rng, StreamsDependOnKeysAndNotOnEarlierDraws) {
  Rng used(1);
  (void)used.next();
  EXPECT_EQ(used.stream(Draw::triples, 2, 3).next(), Rng(1).stream(Draw::triples, 2, 3).next());
  EXPECT_NE(Rng(1).stream(Draw::triples, 2, 3).next(), Rng(1).stream(Draw::triples, 3, 2).next());
  EXPECT_NE(Rng(1).stream(Draw::triples, 2).next(), Rng(1).stream(Draw::split, 2).next());
  EXPECT_NE(Rng(1).stream(Draw::triples, 0).next(), Rng(1).stream(Draw::triples).next());
}

TEST(Rng, DrawsBelowABoundUniformly) {
  Rng rng(5);
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 70000; ++i) ++counts[rng.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);
  EXPECT_EQ(rng.below(1), 0U);
}

TEST(Rng, NormalAndGammaHaveTheirMoments) {
  Rng rng(11);
  double sum = 0;
  double squares = 0;
  double gamma_sum = 0;
  double small_gamma_sum = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
    gamma_sum += rng.gamma(2.5);
    small_gamma_sum += rng.gamma(0.3);
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.02);
  EXPECT_NEAR(gamma_sum / kDraws, 2.5, 0.03);
  EXPECT_NEAR(small_gamma_sum / kDraws, 0.3, 0.02);
}

TEST(Rng, ShuffleKeepsEveryElement) {
  std::vector<int> values(101);
  std::iota(values.begin(), values.end(), 0);
  Rng(3).shuffle(std::span(values));
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  std::sort(values.begin(), values.end());
  for (int i = 0; i < 101; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
}
}  // namespace
}  // namespace fedhur
