#include "fedhur/evaluate/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fedhur::evaluate {
namespace {
using Values = std::vector<double>;

TEST(Spread, IsTheMeanAndTheDeviationOfTheSample) {
  const Spread spread = spread_of(Values{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_DOUBLE_EQ(spread.mean, 5.0);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt(32.0 / 7.0));
  EXPECT_EQ(spread_of(Values{3}).deviation, 0.0);
  EXPECT_EQ(spread_of(Values{}).mean, 0.0);
}

// Values of SciPy's ttest_rel.
TEST(PairedTest, AgreesWithAnIndependentComputation) {
  const Values a = {0.4249, 0.4206, 0.4301, 0.4255, 0.4283};
  const Values b = {0.4231, 0.4190, 0.4262, 0.4260, 0.4247};
  const PairedTest test = paired_test(a, b);
  EXPECT_NEAR(test.difference, 0.00208, 1e-12);
  EXPECT_NEAR(test.t, 2.621802454287985, 1e-9);
  EXPECT_NEAR(test.p, 0.058688307988518956, 1e-9);
  EXPECT_NEAR(paired_test(b, a).t, -test.t, 1e-12);
  EXPECT_NEAR(paired_test(Values{1, 2, 4}, Values{0, 3, 1}).p, 0.4777670321329065, 1e-9);
}

TEST(PairedTest, HasAnAnswerAtTheEdges) {
  EXPECT_EQ(paired_test(Values{1}, Values{2}).p, 1.0);
  EXPECT_EQ(paired_test(Values{1, 2}, Values{1, 2}).p, 1.0);
  const PairedTest same_step = paired_test(Values{2, 3, 4}, Values{1, 2, 3});
  EXPECT_TRUE(std::isinf(same_step.t));
  EXPECT_EQ(same_step.p, 0.0);
  EXPECT_THROW((void)paired_test(Values{1}, Values{}), std::logic_error);
}

TEST(Correlation, IsOneForALineAndOfRanksForAnyRisingCurve) {
  const Values x = {1, 2, 3, 4, 5};
  EXPECT_NEAR(pearson(x, Values{3, 5, 7, 9, 11}), 1.0, 1e-12);
  EXPECT_NEAR(pearson(x, Values{5, 4, 3, 2, 1}), -1.0, 1e-12);
  const Values curve = {1, 8, 27, 64, 1000};
  EXPECT_LT(pearson(x, curve), 0.9);
  EXPECT_NEAR(spearman(x, curve), 1.0, 1e-12);
  EXPECT_EQ(pearson(x, Values{2, 2, 2, 2, 2}), 0.0);
  EXPECT_EQ(spearman(Values{}, Values{}), 0.0);
}

TEST(Correlation, SharesTheRanksOfEqualValues) {
  EXPECT_EQ(ranks_of(Values{3, 1, 3, 2}), (Values{3.5, 1, 3.5, 2}));
  EXPECT_NEAR(spearman(Values{3, 1, 3, 2}, Values{4, 1, 3, 2}), 0.9486832980505138, 1e-12);
}
}  // namespace
}  // namespace fedhur::evaluate
