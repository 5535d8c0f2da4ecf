#include "fedhur/model/training_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "fedhur/model/logistic.hpp"
#include "tests/support/support.hpp"

namespace fedhur::model {
namespace {
std::vector<std::tuple<int, int, float>> tuples(const std::vector<LabelledPair>& pairs) {
  std::vector<std::tuple<int, int, float>> result;
  for (const LabelledPair& pair : pairs) result.emplace_back(pair.user, pair.item, pair.label);
  return result;
}

TEST(LabelledSampling, FollowsEveryInteractionByDifferentItemsTheUserHasNot) {
  const data::UserItems train = tests::user_items({{0, 3, 4, 10}, {}, {1}});
  const auto pairs = draw_labelled_pairs(train, 11, 4, Rng(3));
  ASSERT_EQ(pairs.size(), 5U * 5U);
  std::vector<std::pair<int, int>> positives;
  for (std::size_t first = 0; first < pairs.size(); first += 5) {
    EXPECT_EQ(pairs[first].label, 1.0F);
    positives.emplace_back(pairs[first].user, pairs[first].item);
    std::set<int> negatives;
    for (std::size_t i = first + 1; i < first + 5; ++i) {
      EXPECT_EQ(pairs[i].label, 0.0F);
      EXPECT_EQ(pairs[i].user, pairs[first].user);
      EXPECT_FALSE(train.contains(pairs[i].user, item_id(pairs[i].item)));
      EXPECT_TRUE(pairs[i].item >= 0 && pairs[i].item < 11) << pairs[i].item;
      negatives.insert(pairs[i].item);
    }
    EXPECT_EQ(negatives.size(), 4U);
  }
  const std::vector<std::pair<int, int>> expected = {{0, 0}, {0, 3}, {0, 4}, {0, 10}, {2, 1}};
  EXPECT_EQ(positives, expected);
}

TEST(LabelledSampling, DrawsAllItemsTheUserHasNotAlike) {
  const data::UserItems train = tests::user_items({{0, 2, 3, 8}});
  std::vector<int> counts(9);
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    for (const auto& pair :
         draw_labelled_pairs(train, 9, 2, Rng(static_cast<std::uint64_t>(round)))) {
      if (pair.label == 0.0F) ++counts[static_cast<std::size_t>(pair.item)];
    }
  }
  for (const int item : {1, 4, 5, 6, 7}) {  // 2 of 5, for each of the 4 interactions
    EXPECT_NEAR(counts[static_cast<std::size_t>(item)], 4 * kRounds * 2 / 5, 250) << item;
  }
}

TEST(LabelledSampling, DrawsFewerWhereFewerAreLeft) {
  const auto pairs = draw_labelled_pairs(tests::user_items({{0, 1, 2}, {0, 1, 3}}), 4, 4, Rng(1));
  const std::vector<std::tuple<int, int, float>> expected = {
      {0, 0, 1}, {0, 3, 0}, {0, 1, 1}, {0, 3, 0}, {0, 2, 1}, {0, 3, 0},
      {1, 0, 1}, {1, 2, 0}, {1, 1, 1}, {1, 2, 0}, {1, 3, 1}, {1, 2, 0}};
  EXPECT_EQ(tuples(pairs), expected);
  const auto all = draw_labelled_pairs(tests::user_items({{0, 1}}), 2, 4, Rng(1));
  const std::vector<std::tuple<int, int, float>> positives = {{0, 0, 1}, {0, 1, 1}};
  EXPECT_EQ(tuples(all), positives) << "a user who has every item";
  EXPECT_TRUE(draw_labelled_pairs(tests::user_items({{}, {}}), 2, 4, Rng(1)).empty());
}

TEST(LabelledSampling, DependsOnTheSeedAlone) {
  const data::UserItems train = tests::user_items({{0, 30, 40}, {7}});
  EXPECT_EQ(tuples(draw_labelled_pairs(train, 90, 4, Rng(3))),
            tuples(draw_labelled_pairs(train, 90, 4, Rng(3))));
  EXPECT_NE(tuples(draw_labelled_pairs(train, 90, 4, Rng(3))),
            tuples(draw_labelled_pairs(train, 90, 4, Rng(4))));
}

TEST(CrossEntropy, IsThatOfTheProbabilityAndHasItsSlope) {
  for (const double logit : {-3.0, -0.5, 0.0, 0.5, 3.0}) {
    const double p = 1.0 / (1.0 + std::exp(-logit));
    EXPECT_NEAR(cross_entropy(logit, 1.0).value, -std::log(p), 1e-12);
    EXPECT_NEAR(cross_entropy(logit, 0.0).value, -std::log(1.0 - p), 1e-12);
    for (const double label : {0.0, 1.0}) {
      const double slope =
          (cross_entropy(logit + 1e-5, label).value - cross_entropy(logit - 1e-5, label).value) /
          2e-5;
      EXPECT_NEAR(cross_entropy(logit, label).slope, slope, 1e-9);
    }
  }
}

TEST(CrossEntropy, StaysFiniteForHugeLogits) {
  EXPECT_EQ(cross_entropy(1e4, 0.0).value, 1e4);
  EXPECT_EQ(cross_entropy(-1e4, 1.0).value, 1e4);
  EXPECT_EQ(cross_entropy(-1e4, 1.0).slope, -1.0);
  EXPECT_EQ(cross_entropy(1e4, 1.0).value, 0.0);
  EXPECT_GT(cross_entropy(40.0, 1.0).value, 0.0) << "not lost in the difference";
}
}  // namespace
}  // namespace fedhur::model
