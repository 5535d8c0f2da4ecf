#include "fedhur/tune/trial.hpp"

#include <gmock/gmock.h>

#include "fedhur/tune/effects.hpp"
#include "fedhur/tune/plan.hpp"

namespace fedhur::tune {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Trial trial_of(std::vector<double> scores, TrialState state = TrialState::waiting) {
  Trial trial;
  trial.scores = std::move(scores);
  trial.state = state;
  return trial;
}

TEST(RankTrials, LooksAtTheLastScoreThenAtRungsThenAtTheOrderOfTheDraw) {
  const std::vector<Trial> trials = {trial_of({0.9}),
                                     trial_of({0.25, 0.2}),
                                     trial_of({}),
                                     trial_of({0.2, 0.3}),
                                     trial_of({0.9, 0.9}, TrialState::failed),
                                     trial_of({0.9}),
                                     trial_of({0.95}, TrialState::dropped),
                                     trial_of({0.3})};
  EXPECT_THAT(rank_trials(trials), ElementsAre(6, 0, 5, 3, 7, 1));
  EXPECT_THAT(rank_trials({}), IsEmpty());
  EXPECT_THAT(rank_after(trials, 1), ElementsAre(6, 0, 5, 7, 1, 3)) << "as they were then";
  EXPECT_THAT(rank_after(trials, 2), ElementsAre(3, 1));
}

report::RoundReport round_of(Round round, double valid, double test, bool is_best) {
  report::RoundReport report;
  report.round = round;
  report.valid = {{"f1@10", valid}};
  report.test = {{"f1@10", test}};
  report.is_best = is_best;
  report.seconds = {{"server", 0.5}, {"evaluation", 0.25}};
  return report;
}

TEST(Summarize, TakesTheBestOfTheRoundsThatCount) {
  const std::vector<report::RoundReport> rounds = {
      round_of(0, 0.1, 0.9, true), round_of(1, 0.3, 0.2, true), round_of(2, 0.2, 0.8, false),
      round_of(3, 0.4, 0.1, true)};
  const TrialRun early = summarize_run(rounds, 3, 7);
  EXPECT_EQ(early.seed, 7U);
  EXPECT_EQ(early.num_rounds, 3);
  EXPECT_EQ(early.best_round, 2);
  EXPECT_EQ(early.valid.at("f1@10"), 0.3);
  EXPECT_EQ(early.test.at("f1@10"), 0.2) << "of the round that validation chose";
  EXPECT_EQ(early.seconds, 2.25);
  EXPECT_EQ(summarize_run(rounds, 1000, 7).best_round, 4);
}

std::vector<std::pair<std::size_t, Round>> rungs_of(std::size_t num_trials, Round max_rounds,
                                                    const HalvingConfig& config = {}) {
  std::vector<std::pair<std::size_t, Round>> pairs;
  for (const Rung& rung : plan_rungs(num_trials, config, max_rounds)) {
    pairs.emplace_back(rung.num_trials, rung.num_rounds);
  }
  return pairs;
}

TEST(PlanRungs, KeepsOneInThreeForThreeTimesTheRounds) {
  using Pair = std::pair<std::size_t, Round>;
  EXPECT_THAT(rungs_of(30, 500), ElementsAre(Pair(30, 5), Pair(10, 15), Pair(3, 0)));
  EXPECT_THAT(rungs_of(27, 500), ElementsAre(Pair(27, 5), Pair(9, 15), Pair(3, 0)));
  EXPECT_THAT(rungs_of(4, 500), ElementsAre(Pair(4, 5), Pair(1, 0)));
  EXPECT_THAT(rungs_of(3, 500), ElementsAre(Pair(3, 0)));
  EXPECT_THAT(rungs_of(1, 500), ElementsAre(Pair(1, 0)));
  EXPECT_THAT(rungs_of(100, 12), ElementsAre(Pair(100, 5), Pair(33, 0))) << "12 is the end";
  EXPECT_THAT(rungs_of(100, 3), ElementsAre(Pair(100, 0)));
  EXPECT_THAT(rungs_of(9, 100, {.first_rounds = 2, .factor = 2}),
              ElementsAre(Pair(9, 2), Pair(4, 4), Pair(2, 0)));
}

TEST(FindEffects, ComparesMeansByValueAndHalvesOfRanges) {
  const SearchSpace space = {{.key = "a", .values = Choices{1.0, 2.0, 3.0}, .origin = ""},
                             {.key = "b", .values = Range{.low = 0.0, .high = 10.0}, .origin = ""},
                             {.key = "c", .values = Choices{5.0, 6.0}, .origin = ""}};
  std::vector<Trial> trials;
  const auto add = [&](double a, double b, double score) {
    trials.push_back(trial_of({score, 99.0}));  // later rungs do not count
    trials.back().point = {a, b, 5.0};
  };
  add(1.0, 1.0, 0.1);
  add(1.0, 9.0, 0.3);
  add(2.0, 2.0, 0.6);
  add(2.0, 8.0, 0.6);
  add(3.0, 4.0, 0.9);  // one trial alone says little
  trials.push_back(trial_of({}, TrialState::failed));
  trials.back().point = {3.0, 3.0, 5.0};
  const auto effects = find_effects(trials, space);
  ASSERT_EQ(effects.size(), 2U) << "c was always the same";
  EXPECT_EQ(effects[0].key, "a");
  EXPECT_EQ(effects[0].groups[0].value, "2.0");
  EXPECT_EQ(effects[0].groups[1].num_trials, 2U);
  EXPECT_NEAR(effects[0].size(), 0.4, 1e-12);
  EXPECT_EQ(effects[1].groups[0].value, "up to 4");
  EXPECT_EQ(effects[1].groups[0].num_trials, 3U);
  EXPECT_NEAR(effects[1].size(), 1.6 / 3.0 - 0.45, 1e-12);
  EXPECT_EQ(describe_largest(effects, "f1@10"),
            "a mattered most: mean valid f1@10 is 0.6000 with 2.0 and 0.2000 with 1.0.");
  EXPECT_THAT(find_effects({}, space), IsEmpty());
  EXPECT_EQ(describe_largest({}, "f1@10"), "");
}
}  // namespace
}  // namespace fedhur::tune
