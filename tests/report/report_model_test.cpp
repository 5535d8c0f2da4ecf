#include "fedhur/report/report_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fedhur/report/page.hpp"
#include "fedhur/report/result_text.hpp"

namespace fedhur::report {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A run with these values of NDCG@10 on the test split by round.
RunRecord make_run(const std::string& name, const std::string& method, std::uint64_t seed,
                   const std::vector<double>& ndcg) {
  RunRecord run;
  run.name = "/runs/" + name;
  run.is_finished = true;
  run.origin.data_sha256 = "data";
  run.settings = {{"seed", std::to_string(seed)}, {"split.kind", "\"given\""}, {"a.step", "1"}};
  run.result.method = method;
  run.result.data = "small";
  run.result.seed = seed;
  run.result.num_clients = 2;
  for (const double value : ndcg) {
    RoundReport round;
    round.round = static_cast<Round>(run.rounds.size());
    round.valid = {{"ndcg@10", value}, {"recall@10", 0.5}};
    round.test = round.valid;
    round.is_best = value >= *std::ranges::max_element(ndcg);
    round.seconds = {{"server", 1.0}, {"evaluation", 2.0}, {"new_phase", 0.5}};
    round.traffic = {{"train", {.up = 40, .down = 0}}, {"evaluate", {.up = 9, .down = 9}}};
    run.rounds.push_back(round);
  }
  add_up(run.rounds, run.result);
  return run;
}

std::vector<std::string> labels_of(const ReportModel& model) {
  std::vector<std::string> labels;
  for (const RunGroup& group : model.groups) labels.push_back(group.label);
  return labels;
}

TEST(ReportModel, PutsRunsOfOneMethodAndSettingsIntoOneGroup) {
  auto other = make_run("other", "fedmf", 1, {0.1});
  other.settings["a.step"] = "\"wide\"";
  const ReportModel model =
      make_report({make_run("a", "fedmf", 1, {0.1}), make_run("b", "local", 1, {0.1}), other,
                   make_run("c", "fedmf", 2, {0.1})});
  EXPECT_THAT(labels_of(model), ElementsAre("fedmf, step 1", "local", "fedmf, step wide"));
  EXPECT_THAT(model.groups[0].runs, ElementsAre(0, 3));
  EXPECT_THAT(model.groups[0].seeds, ElementsAre(1, 2));
  EXPECT_EQ(model.runs[3].name, "c") << "no two are called so";
  EXPECT_EQ(model.title, "fedmf, local on small");
  EXPECT_EQ(model.state, "all runs finished");
}

TEST(ReportModel, CallsGroupsByTheirRunsWhereManySettingsDiffer) {
  auto other = make_run("other", "fedmf", 1, {0.1});
  for (const char* key : {"a.step", "b.one", "b.two"}) other.settings[key] = "9";
  auto unreadable = make_run("old", "fedmf", 1, {0.1});
  unreadable.settings.clear();
  const ReportModel model = make_report({make_run("a", "fedmf", 1, {0.1}), other, unreadable});
  EXPECT_THAT(labels_of(model), ElementsAre("a", "other", "old"));
}

TEST(ReportModel, HasMeansOfTheRoundsThatAllRunsOfAGroupHaveReached) {
  const ReportModel model = make_report(
      {make_run("a", "fedmf", 1, {0.1, 0.4, 0.3}), make_run("b", "fedmf", 2, {0.3, 0.2})});
  ASSERT_EQ(model.test.size(), 2U);
  EXPECT_EQ(model.headline, 1U);
  const Curve& curve = model.test[model.headline];
  EXPECT_EQ(curve.label, "NDCG@10");
  ASSERT_EQ(curve.series.size(), 1U);
  const Series& series = curve.series[0];
  ASSERT_EQ(series.points.size(), 2U);
  EXPECT_EQ(series.points[1].round, 2);
  EXPECT_DOUBLE_EQ(series.points[1].value.mean, 0.3);
  EXPECT_DOUBLE_EQ(series.points[1].value.deviation, std::sqrt(0.02));
  ASSERT_EQ(series.bests.size(), 2U) << "of single runs";
  EXPECT_EQ(series.bests[0].round, 2);
  EXPECT_EQ(series.bests[1].value.mean, 0.3);
}

TEST(ReportModel, MarksTheBestOfAColumn) {
  const ReportModel model =
      make_report({make_run("a", "fedmf", 1, {0.1}), make_run("b", "local", 1, {0.2})});
  EXPECT_EQ(model.results[0].label, "Recall@10");
  EXPECT_THAT(model.results[0].is_best, ElementsAre(true, true)) << "both";
  EXPECT_THAT(model.results[1].is_best, ElementsAre(false, true));
  EXPECT_EQ(model.results.back().label, "down");
  EXPECT_THAT(find_best("ndcg@10", {0.1}), ElementsAre(false)) << "of one alone";
  EXPECT_THAT(find_best("ndcg@10", {NAN, 0.1}), ElementsAre(false, true));
  EXPECT_THAT(format_comparison(model, 0), HasSubstr("test ndcg@10     0.1000   0.2000*\n"));
}

TEST(ReportModel, PartsTimeAndTrafficInOneOrderWithTheRestLast) {
  RunRecord run = make_run("a", "fedmf", 1, {0.1, 0.2});
  run.result.seconds["total"] = 8.0;  // one more than the phases
  const ReportModel model = make_report({run});
  EXPECT_THAT(model.seconds.names, ElementsAre("server", "evaluation", "new phase", "other"));
  EXPECT_THAT(model.seconds.values[0], ElementsAre(2.0, 4.0, 1.0, 1.0));
  EXPECT_THAT(model.round_seconds.values[0], ElementsAre(1.0, 2.0, 0.5, 0.5));
  EXPECT_THAT(model.bytes_up.names, ElementsAre("train")) << "evaluation does not count";
  EXPECT_THAT(model.bytes_up.values[0], ElementsAre(20.0)) << "per client and round";
  EXPECT_TRUE(model.bytes_down.names.empty());
}

TEST(ReportModel, SaysOnceWhatIsTheSameForAllRuns) {
  const ReportModel model =
      make_report({make_run("a", "fedmf", 1, {0.1}), make_run("b", "fedmf", 2, {0.1})});
  EXPECT_THAT(model.facts[1], ElementsAre(std::pair("seed", "2")));
  EXPECT_EQ(model.environment.size(), 10U);
}

TEST(ReportModel, HasCurvesWhereSomeRunHasOrMayGetSeveralRounds) {
  RunRecord one = make_run("a", "fedslim", 1, {0.1});
  const RunRecord two = make_run("b", "fedmf", 1, {0.1, 0.2});
  EXPECT_FALSE(make_report({one}).has_curves);
  EXPECT_TRUE(make_report({one, two}).has_curves);
  one.is_finished = false;
  EXPECT_TRUE(make_report({one}).has_curves);
}

TEST(ReportModel, OfARunWithoutRoundsIsNearlyEmpty) {
  RunRecord run = make_run("a", "fedmf", 1, {});
  run.is_finished = false;
  const ReportModel model = make_report({run});
  EXPECT_EQ(model.state, "not finished: before its first round");
  ASSERT_EQ(model.valid.size(), 1U) << "a place for the first round";
  EXPECT_TRUE(model.valid[0].series[0].points.empty());
  EXPECT_TRUE(model.measures.empty() && model.seconds.groups.empty() && model.activity.empty());
  EXPECT_EQ(make_report({run}, true).state, "live: round 1");
  run.origin.has_stopped = true;
  EXPECT_EQ(make_report({run}, true).state, "stopped before its first round");
}

TEST(PageData, OfAnUpdateHasLaterRoundsOnly) {
  const ReportModel model = make_report({make_run("a", "fedmf", 1, {0.1, 0.2, 0.3})}, true);
  const auto update =
      nlohmann::json::parse(update_data(model, {.sittings = 0, .rounds = 2, .inside = ""}));
  EXPECT_EQ(update.at("test")[1].at("series")[0].at("points"), nlohmann::json::parse("[[3, 0.3]]"));
  EXPECT_EQ(update.at("first"), 2);
  EXPECT_FALSE(update.contains("inside")) << "there was none, and there is none";
}
}  // namespace
}  // namespace fedhur::report
