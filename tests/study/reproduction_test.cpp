#include "fedhur/study/reproduction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fedhur/base/embedded_text.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/training.hpp"
#include "fedhur/study/tuned_settings.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::study {
std::span<const EmbeddedText> tuned_files();

namespace {
using experiment::RunState;
using testing::HasSubstr;
using tests::TempFolder;

ReproductionConfig tiny(const std::filesystem::path& folder) {
  return {.data = {{.name = "synthetic", .path = "synthetic"}},
          .seeds = {1, 2},
          .assignments = {"synthetic.num_users=40", "synthetic.num_items=60",
                          "synthetic.num_interactions=900", "clients.count=7",
                          "model.embedding_dim=6", "stop.max_rounds=2"},
          .parallel = 2,
          .folder = folder};
}

TEST(PaperTables, ConsistOfRunsThatCanBeMade) {
  for (const PaperTable& table : paper_tables()) {
    // Popularity has no embeddings, so only settings that all methods have.
    ReproductionConfig config = tiny("nowhere");
    config.assignments = {"stop.max_rounds=2"};
    const auto cells = plan_cells(table, config);
    EXPECT_EQ(cells.size(), table.rows.size() * 2) << table.name;
    std::set<std::filesystem::path> folders;
    for (const Cell& cell : cells) folders.insert(cell.run.folder);
    EXPECT_EQ(folders.size(), cells.size()) << table.name << ": two rows are the same run";
    const auto proposals = std::count_if(table.rows.begin(), table.rows.end(),
                                         [](const Row& r) { return r.is_proposal; });
    const bool is_of_methods = table.name == "overall" || table.name == "efficiency";
    EXPECT_EQ(proposals, is_of_methods ? 2 : 1) << table.name;
  }
}

TEST(PaperTables, HaveThePapersSixChoicesOfScorerInputs) {
  std::vector<std::string> labels;
  for (const Row& row : find_table("scorer").rows) labels.push_back(row.label);
  EXPECT_THAT(labels, testing::ElementsAre("no scorer", "s", "rho", "nu, s", "rho, s", "rho, nu",
                                           "rho, nu, s"));
}

TEST(PaperTables, WithAnAxisHaveNumbersThatRise) {
  int count = 0;
  for (const PaperTable& table : paper_tables()) {
    if (!table.axis) continue;
    ++count;
    double before = -1.0;
    for (const Row& row : table.rows) {
      std::size_t used = 0;
      const double value = std::stod(row.label, &used);
      EXPECT_EQ(used, row.label.size()) << table.name;
      EXPECT_GT(value, before) << table.name;
      EXPECT_TRUE(!table.axis->is_log || value > 0.0) << table.name;
      before = value;
    }
  }
  EXPECT_EQ(count, 2);
}

TEST(TunedSettings, AreWhatTheirMethodsTake) {
  for (const EmbeddedText& file : tuned_files()) {
    const std::string name(file.name);
    const std::size_t slash = name.find('/');
    ASSERT_NE(slash, std::string::npos) << name;
    const std::string method = name.substr(slash + 1, name.size() - slash - 1 - 5);
    ConfigTable table = tuned_settings(name.substr(0, slash), method);
    EXPECT_EQ(experiment::resolve(table).config.method, method);
  }
}

TEST(TunedSettings, AreDefaultsWhereNobodySearched) {
  EXPECT_FALSE(find_tuned("no such data", "fedmf"));
  ConfigTable table = tuned_settings("no such data", "fedmf");
  EXPECT_EQ(experiment::resolve(table).config.method, "fedmf");
}

TEST(TunedSettings, ThatAreAskedForAreThereOrNamedInTheError) {
  ConfigTable table = require_tuned("book", "fedmf");
  EXPECT_EQ(std::get<std::int64_t>(*table.find("train.batch_size")), 256);
  const auto message = [](const std::string& data, const std::string& method) -> std::string {
    try {
      (void)require_tuned(data, method);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message("ratings", "fedmf"),
              HasSubstr("for data called 'ratings'; name the data set whose settings to take, one "
                        "of beauty, book, bx, ml-100k, ml-1m,"));
  EXPECT_THAT(message("book", "popularity"),
              HasSubstr("no tuned settings of popularity for book; there are some of fedca, "));
}

// Whoever changes the defaults must not lose what was found on these data.
TEST(TunedSettings, AreThereForEveryDataSetAndMethodWithSettings) {
  for (const char* data : {"beauty", "book", "bx", "ml-100k", "ml-1m"}) {
    for (const methods::Method& method : methods::all_methods()) {
      EXPECT_EQ(find_tuned(data, method.name).has_value(), method.name != "popularity")
          << data << " " << method.name;
    }
  }
}

TEST(Cells, OfTwoTablesAreOneWhereTheirSettingsAgree) {
  const ReproductionConfig config = tiny("somewhere");
  const auto query = plan_cells(find_table("query"), config);
  const auto relations = plan_cells(find_table("relations"), config);
  // Both proposals are FedHUR as it is.
  EXPECT_EQ(query[3].run.folder, relations[10].run.folder);
  EXPECT_NE(query[2].run.folder, query[3].run.folder);
  ReproductionConfig longer = config;
  longer.assignments.emplace_back("stop.max_rounds=3");
  EXPECT_NE(plan_cells(find_table("query"), longer)[3].run.folder, query[3].run.folder);
}

TEST(Cells, RunWithTheSettingsOfTheirRowBelowThoseOfAll) {
  const Row row = {"x", "fedhur", {"stop.max_rounds=9", "query.directions=4"}};
  ReproductionConfig of_all;
  of_all.assignments = {"stop.max_rounds=2", "clients.count=7"};
  const auto [config, settings] =
      experiment::resolve(settings_of(row, {.name = "synthetic", .path = "synthetic"}, of_all, 5));
  EXPECT_EQ(config.method, "fedhur");
  EXPECT_EQ(config.stop.max_rounds, 2);
  EXPECT_EQ(config.seed, 5U);
  EXPECT_THAT(experiment::to_toml(settings), HasSubstr("\ndirections = 4\n"));
}

TEST(Cells, RunWithAPresetInPlaceOfTunedSettings) {
  const DataSource data = {.name = "ml-100k", .path = "synthetic"};
  const auto setting = [&](const ReproductionConfig& config, const std::string& method,
                           const std::string& key) {
    const ConfigTable table = settings_of({"x", method}, data, config, 1);
    const ConfigValue* value = table.find(key);
    return value == nullptr ? ConfigValue(std::string("none")) : *value;
  };
  EXPECT_EQ(std::get<double>(setting({}, "fedhur", "train.learning_rate")), 0.03);
  ReproductionConfig config;
  config.preset = "paper";
  EXPECT_EQ(std::get<double>(setting(config, "fedhur", "train.learning_rate")), 0.1);
  EXPECT_EQ(std::get<std::string>(setting(config, "fedhur", "finetune.solver")), "gradient");
  EXPECT_EQ(std::get<std::string>(setting(config, "popularity", "train.learning_rate")), "none")
      << "it has no preset";
  config.assignments = {"finetune.solver=exact"};
  EXPECT_EQ(std::get<std::string>(setting(config, "fedhur", "finetune.solver")), "exact");
  config.preset = "papers";
  EXPECT_THROW((void)settings_of({"x", "popularity"}, data, config, 1), ConfigError);
}

TEST(PaperTables, CanBeCutToSomeRows) {
  const PaperTable& whole = find_table("relations");
  EXPECT_EQ(with_rows(whole, {}).rows.size(), whole.rows.size());
  const PaperTable some = with_rows(whole, {"hierarchical utility", "none"});
  ASSERT_EQ(some.rows.size(), 2U);
  EXPECT_EQ(some.rows[0].label, "none") << "in the order of the table";
  EXPECT_TRUE(some.rows[1].is_proposal);
  try {
    (void)with_rows(whole, {"single utilty"});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'single utility'?"));
  }
}

TEST(Cells, AreRunOnceAndKept) {
  const TempFolder folder;
  const ReproductionConfig config = tiny(folder / "out");
  const PaperTable& table = find_table("query");
  auto cells = plan_cells(table, config);
  std::size_t num_ended = 0;
  run_cells(cells, table, config, [&](const Cell&, const auto&) { ++num_ended; }, {});
  EXPECT_EQ(num_ended, 8U);
  for (const Cell& cell : cells) {
    EXPECT_EQ(cell.outcome.state, RunState::finished) << cell.outcome.problem;
    EXPECT_EQ(cell.outcome.result.seed, cell.seed);
    EXPECT_FALSE(std::filesystem::exists(cell.run.folder / "model"));
  }
  // Had they been made again, they would have other times.
  auto again = plan_cells(table, config);
  run_cells(again, table, config, {}, {});
  for (std::size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(again[i].outcome.result.seconds, cells[i].outcome.result.seconds);
  }
}

TEST(Cells, CanBeLookedAtAfterEqualRounds) {
  const TempFolder folder;
  const ReproductionConfig config = tiny(folder / "out");
  const PaperTable& table = find_table("query");
  auto cells = plan_cells(table, config);
  run_cells(cells, table, config, {}, {});
  auto first = cells;
  look_at_round(first, 1);
  auto beyond = cells;
  look_at_round(beyond, 1000);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto rounds = experiment::RunFolder::open(cells[i].run.folder).read_rounds();
    ASSERT_GT(rounds.size(), 1U);
    EXPECT_EQ(first[i].outcome.result.test, rounds.front().test);
    EXPECT_EQ(first[i].outcome.result.best_round, 1);
    EXPECT_EQ(beyond[i].outcome.result.test, rounds.back().test) << "it ended before";
    EXPECT_NE(rounds.front().test, rounds.back().test);
  }
}

TEST(Cells, ThatAreStoppedComeToTheSameEnd) {
  const TempFolder folder;
  const PaperTable& table = find_table("query");
  const ReproductionConfig whole = tiny(folder / "whole");
  auto expected = plan_cells(table, whole);
  run_cells(expected, table, whole, {}, {});
  ReproductionConfig config = tiny(folder / "stopped");
  config.parallel = 1;
  auto cells = plan_cells(table, config);
  int asked = 0;
  run_cells(cells, table, config, {}, [&] { return ++asked > 3; });
  EXPECT_EQ(cells.back().outcome.state, RunState::interrupted);
  run_cells(cells, table, config, {}, {});
  for (std::size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(cells[i].outcome.result.test, expected[i].outcome.result.test);
  }
}

TEST(Cells, RejectSettingsThatNoRunTakes) {
  ReproductionConfig config = tiny("nowhere");
  config.assignments.emplace_back("train.learning_rat=1");
  try {
    (void)plan_cells(find_table("query"), config);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'train.learning_rate'?"));
  }
  EXPECT_THROW((void)find_table("overal"), ConfigError);
  EXPECT_THROW((void)find_source("no/such/file"), DataError);
}
}  // namespace
}  // namespace fedhur::study
