#include "fedhur/tune/tuning.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/training.hpp"
#include "fedhur/tune/tuning_report.hpp"
#include "tests/support/support.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::tune {
namespace {
namespace fs = std::filesystem;
using experiment::add_assignment;
using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using tests::TempFolder;
using tests::tiny_settings;

constexpr const char* kSpace =
    "[space]\n\"train.learning_rate\" = [0.1, 0.03, 0.001]\n\"train.local_epochs\" = [1, 2, 5]\n"
    "\"train.weight_decay\" = {low = 1e-4, high = 0.1, scale = \"log\"}\n";

ConfigTable settings_of(const std::vector<std::string>& assignments = {}) {
  ConfigTable settings = tiny_settings("fedmf");
  add_assignment(settings, "stop.max_rounds=8");
  add_assignment(settings, "stop.patience=8");
  for (const auto& assignment : assignments) add_assignment(settings, assignment);
  return settings;
}

TuneConfig small(Search search, std::size_t num_trials) {
  TuneConfig config;
  config.search = search;
  config.num_trials = num_trials;
  config.seeds = {1, 2};
  config.halving = {.first_rounds = 2, .factor = 2};
  return config;
}

TunePlan plan_of(const TuneConfig& config, const std::string& space = kSpace,
                 const ConfigTable& settings = settings_of()) {
  return plan_tuning(config, settings, read_space(space, "my.toml"));
}

TuneOutcome tune_in(const fs::path& path, const TunePlan& plan, const TuneHooks& hooks = {}) {
  return run_tuning(plan, TuningFolder::open(path, describe_search(plan)), hooks);
}

// Lines of trials.jsonl without what depends on the clock.
std::vector<json> lines_of(const fs::path& folder) {
  std::vector<json> lines;
  std::istringstream text(read_text_file(folder / "trials.jsonl"));
  for (std::string line; std::getline(text, line);) {
    lines.push_back(json::parse(line));
    if (!lines.back().contains("runs")) continue;
    for (json& run : lines.back()["runs"]) run.erase("seconds");
  }
  return lines;
}

void expect_same_search(const fs::path& a, const fs::path& b) {
  EXPECT_EQ(lines_of(a), lines_of(b));
  for (const char* name : {"best.toml", "tuned.toml"}) {
    EXPECT_EQ(read_text_file(a / name), read_text_file(b / name));
  }
}

TEST(Tuning, FindsTheBestByMeanValidationAndWritesItsSettings) {
  const TempFolder folder;
  const TunePlan plan = plan_of(small(Search::random, 5));
  const TuneOutcome outcome = tune_in(folder / "t", plan);
  EXPECT_FALSE(outcome.was_interrupted || outcome.is_out_of_time);
  const std::vector<json> lines = lines_of(folder / "t");
  ASSERT_EQ(lines.size(), 5U);
  double best = -1.0;
  for (const json& line : lines) best = std::max(best, line.at("score").get<double>());
  const Trial& winner = outcome.trials[rank_trials(outcome.trials).front()];
  EXPECT_EQ(winner.scores.back(), best);

  // What it found is what training with best.toml gives.
  double sum = 0.0;
  for (const char* seed : {"1", "2"}) {
    ConfigTable table;
    experiment::add_toml_file(table, folder / "t" / "best.toml");
    add_assignment(table, std::string("seed=") + seed);
    sum += tests::train_tiny(folder / seed, table).result.valid.at("f1@10");
  }
  EXPECT_EQ(sum / 2.0, best);
  EXPECT_THAT(read_text_file(folder / "t" / "summary.md"), HasSubstr("| 5 | "));
  EXPECT_FALSE(fs::exists(folder / "t" / "trials" / "0001-seed-1" / "model"));
}

TEST(Tuning, WritesWhatItSearchedAsASmallFileOfItsOwn) {
  const TempFolder folder;
  const std::string space = R"([space]
"train.local_epochs" = [2]
"model.init_std" = [0.25]
"train.learning_rate" = [0.1, 3e38]
)";  // the second fails
  const TunePlan plan = plan_of(small(Search::grid, 2), space);
  const TuneOutcome outcome = tune_in(folder / "t", plan);
  const Trial& best = outcome.trials[rank_trials(outcome.trials).front()];
  const std::string text = read_text_file(folder / "t" / "tuned.toml");
  EXPECT_EQ(text, fmt::format("# Best of 2 by validation f1@10 over 2 seeds: trial {}, {:.4f}.\n"
                              "[model]\ninit_std = 0.25\n[train]\nlearning_rate = 0.1\n"
                              "local_epochs = 2\n",
                              best.number, best.scores.back()));

  // With the settings that all trials had in common it is the whole configuration.
  ConfigTable table = plan.settings;
  experiment::add_toml_text(table, text, "tuned.toml");
  EXPECT_THAT(read_text_file(folder / "t" / "best.toml"),
              EndsWith(experiment::to_toml(experiment::resolve(table).settings)));
}

TEST(Tuning, GivesTheSameForAnyNumberOfRunsAtATime) {
  const TempFolder folder;
  for (const Search search : {Search::random, Search::halving}) {
    TuneConfig config = small(search, 6);
    const std::string name = name_of(search);
    (void)tune_in(folder / (name + "1"), plan_of(config));
    config.parallel = 3;
    (void)tune_in(folder / (name + "3"), plan_of(config));
    expect_same_search(folder / (name + "1"), folder / (name + "3"));
  }
}

TEST(Tuning, EndsTheSameHoweverOftenItIsInterrupted) {
  const TempFolder folder;
  for (const Search search : {Search::grid, Search::halving}) {
    const std::string space =
        "[space]\n\"train.learning_rate\" = [0.1, 0.03, 0.001]\n\"train.local_epochs\" = [1, 2]\n";
    TuneConfig config = small(search, 6);
    config.parallel = 2;
    const fs::path whole = folder / (name_of(search) + "-whole");
    const fs::path parts = folder / (name_of(search) + "-parts");
    (void)tune_in(whole, plan_of(config, space));
    int num_sittings = 0;
    bool is_over = false;
    while (!is_over && num_sittings < 200) {
      int num_asked = 0;  // after every round, and before every run even if it is there already
      const int most_asked = 9 + 7 * num_sittings++;
      const TuneHooks hooks{.on_trial = {},
                            .should_stop = [&] { return ++num_asked > most_asked; }};
      is_over = !tune_in(parts, plan_of(config, space), hooks).was_interrupted;
    }
    EXPECT_TRUE(is_over);
    EXPECT_GT(num_sittings, 2);
    expect_same_search(whole, parts);
  }
}

TEST(Tuning, HalvingPromotesByTheScoresOfTheRung) {
  const TempFolder folder;
  const TunePlan plan = plan_of(small(Search::halving, 6));
  ASSERT_EQ(plan.rungs.size(), 3U);  // 6 for 2 rounds, 3 for 4, 1 to the end
  std::vector<std::size_t> ended(3);
  const TuneHooks hooks{
      .on_trial = [&](const Trial&, const RungProgress& progress) { ++ended[progress.rung]; },
      .should_stop = {}};
  const TuneOutcome outcome = tune_in(folder / "t", plan, hooks);
  EXPECT_EQ(ended, (std::vector<std::size_t>{6, 3, 1}));
  auto order = rank_trials(outcome.trials);
  ASSERT_EQ(order.size(), 6U);
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t i) { return outcome.trials[i].scores.size(); });
  const std::vector<std::size_t> passed = {3, 2, 2, 1, 1, 1};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Trial& trial = outcome.trials[order[i]];
    EXPECT_EQ(trial.scores.size(), passed[i]);
    EXPECT_EQ(trial.state, i == 0 ? TrialState::finished : TrialState::dropped);
    for (const std::uint64_t seed : {1U, 2U}) {
      const fs::path run =
          TuningFolder::open(folder / "t", describe_search(plan)).run(trial.number, seed);
      const auto rounds = experiment::RunFolder::open(run).read_rounds();
      EXPECT_EQ(rounds.size(), i == 0 ? 8U : std::size_t{1} << passed[i]);
      EXPECT_TRUE(fs::is_empty(run / "checkpoints")) << "they are not needed any more";
    }
  }
  for (std::size_t i = 3; i < 6; ++i) {  // no dropped trial was better than one that went on
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_LE(outcome.trials[order[i]].scores[0], outcome.trials[order[j]].scores[0]);
    }
  }
}

TEST(Tuning, MoreTrialsAreAddedToThoseThatAreThere) {
  const TempFolder folder;
  (void)tune_in(folder / "t", plan_of(small(Search::random, 2)));
  const fs::path kept = folder / "t" / "trials" / "0001-seed-1" / "result.json";
  const auto time = fs::last_write_time(kept);
  const std::vector<json> before = lines_of(folder / "t");
  (void)tune_in(folder / "t", plan_of(small(Search::random, 4)));
  const std::vector<json> after = lines_of(folder / "t");
  ASSERT_EQ(after.size(), 4U);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
  EXPECT_EQ(fs::last_write_time(kept), time);
}

// Rows of 24 users for 3 clients; the test rows alone depend on `test_shift`.
std::string split_text(int test_shift) {
  std::string text = "client\tuser\titem\tsplit\n";
  const auto add = [&](int user, int item, const char* part) {
    text += fmt::format("{}\t{}\t{}\t{}\n", user / 8, user, item, part);
  };
  for (int item = 0; item < 40; ++item) add(item % 24, item, "train");  // all items are known
  for (int user = 0; user < 24; ++user) {
    const int first = user % 4 * 10;
    for (int i = 0; i < 10; ++i) {
      const int item = first + (i + user) % 10;
      const bool is_known = item % 24 == user;
      if (!is_known && i < 7) add(user, item, i < 5 ? "train" : "valid");
    }
    for (int i = 0; i < 6; ++i) {
      const int item = (first + 15 + test_shift + i) % 40;
      if (item % 24 != user) add(user, item, "test");
    }
  }
  return text;
}

TEST(Tuning, NeverChoosesByTestMetrics) {
  const TempFolder folder;
  std::vector<std::vector<json>> lines;
  for (const int shift : {0, 9}) {
    const std::string name = std::to_string(shift);
    write_file_atomically(folder / (name + ".tsv"), split_text(shift));
    ConfigTable settings;
    for (const auto& assignment :
         {std::string("method=fedmf"), "data.path=" + (folder / (name + ".tsv")).string(),
          std::string("data.format=split"), std::string("model.embedding_dim=6"),
          std::string("stop.max_rounds=6")}) {
      add_assignment(settings, assignment);
    }
    (void)tune_in(folder / name, plan_of(small(Search::halving, 6), kSpace, settings));
    lines.push_back(lines_of(folder / name));
  }
  // Other test rows, and so other test metrics; and yet all scores and choices are the same.
  ASSERT_EQ(lines[0].size(), lines[1].size());
  bool differs = false;
  for (std::size_t i = 0; i < lines[0].size(); ++i) {
    differs = differs || lines[0][i].at("test") != lines[1][i].at("test");
    for (const char* key : {"trial", "state", "settings", "score", "rung_scores", "valid"}) {
      EXPECT_EQ(lines[0][i].at(key), lines[1][i].at(key)) << i << key;
    }
  }
  EXPECT_TRUE(differs) << "the data make no difference to test metrics, so this proves nothing";
}

TEST(Tuning, FailedTrialsAreCountedWithTheirReason) {
  const TempFolder folder;
  const TunePlan plan =
      plan_of(small(Search::grid, 9), "[space]\n\"train.learning_rate\" = [0.05, 3e38]\n");
  const TuneOutcome outcome = tune_in(folder / "t", plan);
  EXPECT_EQ(rank_trials(outcome.trials).size(), 1U);
  const auto lines = lines_of(folder / "t");
  ASSERT_EQ(lines.size(), 2U);
  const json& failed = lines[lines[0].at("state") == "failed" ? 0 : 1];
  EXPECT_EQ(failed.at("settings").at("train.learning_rate"), 3e38);
  EXPECT_THAT(failed.at("problem").get<std::string>(), HasSubstr("seed 1: "));
  EXPECT_FALSE(failed.contains("score"));
  EXPECT_THAT(read_text_file(folder / "t" / "summary.md"), HasSubstr("## Failed trials"));

  const TunePlan hopeless =
      plan_of(small(Search::halving, 3), "[space]\n\"train.learning_rate\" = [2e38, 3e38, 1e38]\n");
  EXPECT_TRUE(rank_trials(tune_in(folder / "h", hopeless).trials).empty());
  EXPECT_FALSE(fs::exists(folder / "h" / "best.toml"));
  EXPECT_FALSE(fs::exists(folder / "h" / "tuned.toml"));
}

TEST(Tuning, StopsWhenItsTimeIsUp) {
  const TempFolder folder;
  TuneConfig config = small(Search::random, 3);
  config.max_seconds = 1e-9;
  const TuneOutcome outcome = tune_in(folder / "t", plan_of(config));
  EXPECT_TRUE(outcome.is_out_of_time);
  EXPECT_FALSE(outcome.was_interrupted);
  EXPECT_TRUE(rank_trials(outcome.trials).empty());
  EXPECT_EQ(tune_in(folder / "t", plan_of(small(Search::random, 3))).trials.size(), 3U)
      << "the budget is not part of the search";
}

TEST(PlanTuning, RefusesWhatCannotBeSearched) {
  const auto problem = [](const TuneConfig& config, const ConfigTable& settings) {
    try {
      (void)plan_of(config, kSpace, settings);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const TuneConfig random = small(Search::random, 3);
  EXPECT_THAT(problem(small(Search::grid, 3), settings_of()), HasSubstr("which has no grid"));
  EXPECT_THAT(problem(random, settings_of({"split.valid_fraction=0"})), HasSubstr("no rows"));
  EXPECT_THAT(problem(random, settings_of({"stop.max_round=3"})), HasSubstr("stop.max_rounds"));
  EXPECT_THROW((void)plan_of(random, kSpace, settings_of({"data.path=none.csv"})), Error);
}

TEST(TuningFolder, HoldsOneSearchAndOneProcessAtATime) {
  const TempFolder folder;
  const auto path_of = [&](const std::string& search) {
    return TuningFolder::open_numbered(folder.path(), "fedmf", search).path().filename();
  };
  EXPECT_EQ(path_of("a"), "fedmf-0001");
  EXPECT_EQ(path_of("b"), "fedmf-0002");
  EXPECT_EQ(path_of("a"), "fedmf-0001") << "the same search goes on";
  EXPECT_THROW((void)TuningFolder::open(folder / "fedmf-0001", "b"), ConfigError);
  {
    const TuningFolder mine = TuningFolder::open(folder / "fedmf-0001", "a");
    EXPECT_THROW((void)TuningFolder::open(folder / "fedmf-0001", "a"), ConfigError);
  }
  fs::create_directories(folder / "full" / "something");
  EXPECT_THROW((void)TuningFolder::open(folder / "full", "a"), ConfigError);
  fs::create_directories(folder / "killed");
  write_file_atomically(folder / "killed" / "lock", "");
  EXPECT_EQ(TuningFolder::open(folder / "killed", "a").path(), folder / "killed");
  write_file_atomically(folder / "file", "x");
  EXPECT_THROW((void)TuningFolder::open(folder / "file", "a"), ConfigError);
}
}  // namespace
}  // namespace fedhur::tune
