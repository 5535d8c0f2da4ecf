#include <csignal>

#include "process.hpp"

namespace fedhur::tests {
namespace {
constexpr const char* kSpace =
    "[space]\n\"train.learning_rate\" = [0.05, 0.01]\n\"train.local_epochs\" = [1, 2]\n";

Arguments small_search(const Arguments& more) {
  return Arguments{"tune", "--parallel", "2", "--space", "space.toml"} + small_settings() + more;
}

std::vector<json> trials_of(const Workplace& place, const std::string& folder) {
  std::vector<json> trials;
  for (const std::string& line : text_lines_of(place.read(folder + "/trials.jsonl"))) {
    trials.push_back(json::parse(line));
  }
  for (json& trial : trials) {
    for (json& run : trial["runs"]) run.erase("seconds");
  }
  return trials;
}

TEST(Tune, FindsSettingsThatTrainTakes) {
  const Workplace place;
  place.write("space.toml", kSpace);
  const Arguments arguments =
      small_search({"--search", "grid", "--method", "fedmf", "--seeds", "2", "--out", "t"});
  const Finished finished = place.fedhur(arguments);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("learning_rate"));
  EXPECT_THAT(finished.out, HasSubstr("mattered most"));
  EXPECT_THAT(finished.out, EndsWith("fedhur train --config t/best.toml\n"));
  EXPECT_THAT(finished.err, HasSubstr("4/4"));
  EXPECT_EQ(trials_of(place, "t").size(), 4U);
  EXPECT_THAT(place.read("t/summary.md"), HasSubstr("| rank | trial |"));
  EXPECT_EQ(place.fedhur({"train", "--config", "t/best.toml", "--out", "run"}).exit_code, 0);
  EXPECT_THAT(place.read("t/tuned.toml"),
              AllOf(StartsWith("# Best of 4 by validation f1@10 over 2 seeds: trial "),
                    HasSubstr(".\n[train]\nlearning_rate = "), HasSubstr("\nlocal_epochs = ")));
  EXPECT_EQ(place.train("tuned", {"--method", "fedmf", "--config", "t/tuned.toml"}).exit_code, 0);

  const Finished again = place.fedhur(arguments + Arguments{"--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, Not(HasSubstr("trial "))) << "all of them are there already";
  const json tuning = json::parse(again.out).at("tunings").at(0);
  EXPECT_EQ(tuning.at("method"), "fedmf");
  EXPECT_EQ(tuning.at("seeds"), json({1, 2}));
  EXPECT_EQ(tuning.at("finished"), 4);
  EXPECT_TRUE(tuning.at("best").at("test").at("ndcg@10").is_number());
}

TEST(Tune, GivesEveryMethodTheSameBudgetFromAnyFolder) {
  const Workplace place;
  const Arguments arguments = Arguments{"tune",
                                        "--method",
                                        "popularity,fedmf",
                                        "--trials",
                                        "2",
                                        "--quiet",
                                        "--json",
                                        "--criterion",
                                        "ndcg@10",
                                        "--set",
                                        "train.local_epochs=1"} +
                              small_settings();
  const Finished both = place.fedhur(arguments);
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.err, IsEmpty());
  const json tunings = json::parse(both.out).at("tunings");
  ASSERT_EQ(tunings.size(), 2U);
  EXPECT_EQ(tunings[0].at("trials"), 1);
  EXPECT_EQ(tunings[1].at("trials"), 2);
  EXPECT_THAT(place.read("tunings/fedmf-0001/best.toml"), HasSubstr("local_epochs = 1\n"))
      << "which counting has not";
  EXPECT_EQ(tunings[1].at("criterion"), "ndcg@10");
  EXPECT_EQ(tunings[1].at("out"), "tunings/fedmf-0001");
  EXPECT_EQ(json::parse(place.fedhur(arguments).out).at("tunings"), tunings) << "it is kept";
  Arguments for_people = arguments;
  std::erase(for_people, "--json");
  const Finished text = place.fedhur(for_people);
  EXPECT_THAT(text.out, AllOf(HasSubstr("popularity on synthetic"), HasSubstr("fedmf on synthetic"),
                              HasSubstr("seconds of all")));
}

TEST(Tune, GoesOnAfterCtrlC) {
  const Workplace place;
  place.write("space.toml", kSpace);
  const auto arguments = [](const std::string& out) {
    return small_search({"--method", "fedmf", "--search", "halving", "--factor", "2",
                         "--first-rounds", "20", "--set", "stop.max_rounds=120", "--set",
                         "stop.patience=120", "--out", out});
  };
  ASSERT_EQ(place.fedhur(arguments("whole")).exit_code, 0);
  Process process(place, arguments("parts"));
  ASSERT_TRUE(process.wait_for_message("1/4"));
  process.send(SIGINT);
  const Finished stopped = process.wait();
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(stopped.out, IsEmpty());
  EXPECT_THAT(stopped.err, HasSubstr("the same command goes on in parts"));
  ASSERT_EQ(place.fedhur(arguments("parts")).exit_code, 0);
  EXPECT_EQ(trials_of(place, "parts"), trials_of(place, "whole"));
  EXPECT_EQ(place.read("parts/best.toml"), place.read("whole/best.toml"));
}

TEST(Tune, MistakesAreOneSentenceAndLeaveNothingBehind) {
  const Workplace place;
  place.write("space.toml", "[space]\n\"train.learning_rat\" = [0.1]\n");
  place.write("range.toml", "[space]\n\"train.learning_rate\" = {low = 0.1, high = 1}\n");
  const auto expect_problem = [&](const Arguments& arguments, int code, const std::string& part) {
    const Finished finished = place.fedhur(Arguments{"tune"} + arguments);
    EXPECT_EQ(finished.exit_code, code) << finished.err;
    EXPECT_THAT(finished.out, IsEmpty());
    EXPECT_THAT(finished.err, HasSubstr(part));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  };
  expect_problem({"--space", "space.toml"}, 2, "did you mean 'train.learning_rate'?");
  expect_problem({"--space", "none.toml"}, 2, "none.toml");
  expect_problem({"--space", "range.toml", "--search", "grid"}, 2, "has no grid");
  expect_problem({"--search", "halvin"}, 2, "did you mean 'halving'?");
  expect_problem({"--method", "fedmf,fedhu"}, 2, "did you mean 'fedhur'?");
  expect_problem({"--method", "fedmf,fedmf"}, 2, "twice");
  expect_problem({"--seeds", "1,1"}, 2, "--seeds 1,1");
  expect_problem({"--seeds", "0"}, 2, "--seeds 0");
  expect_problem({"--seeds", "x"}, 2, "--seeds x");
  expect_problem({"--trials", "0"}, 2, "--trials 0");
  expect_problem({"--minutes", "-1"}, 2, "--minutes -1");
  expect_problem({"--parallel", "0"}, 2, "--parallel 0");
  expect_problem({"--factor", "1"}, 2, "--factor 1");
  expect_problem({"--criterion", "ndgc@10"}, 2, "--criterion");
  expect_problem({"--set", "split.valid_fraction=0"}, 2, "no rows");
  expect_problem({"--data", "none.csv"}, 3, "none.csv");
  EXPECT_FALSE(place.has("tunings"));
}

TEST(Tune, EndsWithCodeOneIfAllTrialsFail) {
  const Workplace place;
  place.write("space.toml", "[space]\n\"train.learning_rate\" = [3e38, 2e38]\n");
  const Finished finished =
      place.fedhur(small_search({"--method", "fedmf", "--out", "t", "--quiet"}));
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_THAT(finished.err, HasSubstr("all trials of fedmf failed; the first: seed 42: "));
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  EXPECT_EQ(trials_of(place, "t").size(), 2U);
  EXPECT_FALSE(place.has("t/best.toml"));
}

TEST(Tune, MinutesAloneAreABudget) {
  const Workplace place;
  place.write("space.toml", "[space]\n\"train.weight_decay\" = {low = 0, high = 1}\n");
  const Arguments arguments = small_search({"--method", "fedmf", "--out", "t", "--minutes"});
  const Finished none = place.fedhur(arguments + Arguments{"1e-9"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("came to an end in time; the same command goes on"));
  const Finished some = place.fedhur(arguments + Arguments{"0.02"});
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_THAT(some.err, HasSubstr("the time is up"));
  EXPECT_FALSE(trials_of(place, "t").empty());
}

TEST(Tune, ShowsTheSpaceAndLeavesOutWhatIsSet) {
  const Workplace place;
  const Finished shown = place.fedhur({"tune", "--method", "gpfedrec", "--show-space"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("[space]"), HasSubstr("graph.threshold")));
  place.write("space.toml", kSpace);
  const Finished fixed = place.fedhur(
      small_search({"--method", "fedmf", "--out", "t", "--set", "train.learning_rate=0.02"}));
  ASSERT_EQ(fixed.exit_code, 0) << fixed.err;
  EXPECT_THAT(fixed.err, HasSubstr("train.learning_rate is not searched"));
  EXPECT_EQ(trials_of(place, "t").size(), 2U);
  EXPECT_THAT(place.read("t/best.toml"), HasSubstr("learning_rate = 0.02\n"));
}
}  // namespace
}  // namespace fedhur::tests
