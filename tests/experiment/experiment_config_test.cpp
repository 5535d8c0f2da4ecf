#include "fedhur/experiment/experiment_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedhur/experiment/party.hpp"
#include "tests/support/support.hpp"

namespace fedhur::experiment {
namespace {
using ::testing::HasSubstr;

template <class Action>
std::string config_error(Action action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ExperimentConfig, ResolvesToAFileThatReadsBackTheSame) {
  ConfigTable table;
  add_assignment(table, "train.learning_rate=0.07");
  add_assignment(table, "evaluate.k=[5, 20]");
  const std::string text = to_toml(resolve(table).settings);
  ConfigTable again;
  add_toml_text(again, text, "config.toml");
  const auto [config, settings] = resolve(again);
  EXPECT_EQ(to_toml(settings), text);
  EXPECT_EQ(config.evaluation.cutoffs, (std::vector<Index>{5, 20}));
  EXPECT_EQ(config.evaluation.criterion, "f1@5");
  EXPECT_THAT(text, HasSubstr("[train]\nlearning_rate = 0.07\n"));
  EXPECT_THAT(text, HasSubstr("\nloss = \"bpr\"\n"));
}

TEST(ExperimentConfig, SaysFileLineAndNearestKeyOfAMistake) {
  ConfigTable table;
  add_toml_text(table, "seed = 1\n[train]\nlerning_rate = 0.1\n", "my.toml");
  const std::string message = config_error([&] { (void)resolve(table); });
  EXPECT_THAT(message, HasSubstr("my.toml:3"));
  EXPECT_THAT(message, HasSubstr("train.learning_rate"));
  ConfigTable broken;
  EXPECT_THAT(config_error([&] { add_toml_text(broken, "a = 1\nb = = 2\n", "my.toml"); }),
              HasSubstr("my.toml:2"));
}

TEST(ExperimentConfig, TakesUnquotedWordsAndPathsInAssignments) {
  ConfigTable table;
  add_assignment(table, "data.path=/some/where/u.data");
  add_assignment(table, "method=local");
  add_assignment(table, "seed=7");
  const ExperimentConfig config = resolve(table).config;
  EXPECT_EQ(config.data.path, "/some/where/u.data");
  EXPECT_EQ(config.method, "local");
  EXPECT_EQ(config.seed, 7U);
  ConfigTable other;
  EXPECT_THROW(add_assignment(other, "no_equals_sign"), ConfigError);
}

TEST(ExperimentConfig, KnowsTheWireWhateverTheMethod) {
  for (const auto& method : methods::all_methods()) {
    ConfigTable table;
    add_assignment(table, "method=" + method.name);
    const ResolvedConfig before = resolve(table);
    EXPECT_EQ(before.config.wire.format.precision, message::Precision::float32);
    EXPECT_THAT(to_toml(before.settings), HasSubstr("[wire]\nprecision = \"float32\"\nrank = 0\n"));
    add_assignment(table, "wire.precision=int8");
    add_assignment(table, "wire.rank=32");
    const auto [config, settings] = resolve(table);
    EXPECT_EQ(config.wire.format.precision, message::Precision::int8) << method.name;
    EXPECT_EQ(config.wire.rank, 32) << method.name;
    EXPECT_THAT(to_toml(settings), HasSubstr("[wire]\nprecision = \"int8\"\nrank = 32\n"));
  }
  ConfigTable wrong;
  add_assignment(wrong, "wire.precision=float61");
  EXPECT_THAT(config_error([&] { (void)resolve(wrong); }), HasSubstr("float16"));
}

TEST(ExperimentConfig, RefusesSettingsOutOfRange) {
  for (const char* assignment : {"seed=-1",
                                 "threads=-2",
                                 "stop.max_rounds=0",
                                 "stop.patience=0",
                                 "clients.count=0",
                                 "clients.concentration=0",
                                 "split.test_fraction=1",
                                 "split.kind=sorted",
                                 "evaluate.k=[]",
                                 "evaluate.k=[0]",
                                 "evaluate.k=10",
                                 "evaluate.criterion=ndcg@7",
                                 "checkpoint.every=-1",
                                 "data.min_user_interactions=0",
                                 "wire.precision=float8",
                                 "wire.precision=8",
                                 "wire.rank=-1",
                                 "wire.rank=half",
                                 "method=fedmff",
                                 "data.format=xml",
                                 "federation.dropout=1",
                                 "federation.dropout=-0.1",
                                 "synthetic.path=1"}) {
    ConfigTable table;
    add_assignment(table, assignment);
    EXPECT_THROW((void)resolve(table), ConfigError) << assignment;
  }
}

TEST(ExperimentConfig, LetsClientsDropOutOfSimulationsOnly) {
  ConfigTable table;
  add_assignment(table, "federation.dropout=0.25");
  EXPECT_EQ(resolve(table).config.dropout, 0.25);
  EXPECT_THAT(to_toml(resolve(table).settings), HasSubstr("[federation]\ndropout = 0.25\n"));
  add_assignment(table, "federation.clients=3");
  add_assignment(table, "federation.items=items.tsv");
  EXPECT_EQ(config_error([&] { (void)resolve(table); }),
            "federation.dropout = 0.25 (from --set): expected 0 for a server: over a network "
            "clients are away by themselves");
  add_assignment(table, "federation.dropout=0");
  EXPECT_EQ(resolve(table).config.dropout, 0);
}

TEST(ExperimentConfig, MakesConflictsInSimulationsOnly) {
  ConfigTable table;
  add_assignment(table, "conflict.clients=0.25");
  EXPECT_EQ(resolve(table).config.data.conflict.share, 0.25);
  add_assignment(table, "federation.clients=3");
  add_assignment(table, "federation.items=items.tsv");
  EXPECT_EQ(config_error([&] { (void)resolve(table); }),
            "conflict.clients = 0.25 (from --set): expected 0 for a server: conflicts are made in "
            "simulations");
}
TEST(ServerHalf, IsOfNoMoreClientsThanSumsHaveRoomFor) {
  const ExperimentConfig config = resolve(tests::tiny_settings("fedmf")).config;
  const Executor executor(1);
  EXPECT_NO_THROW((void)make_server(config, federation::kMostClients, 4, executor));
  try {
    (void)make_server(config, federation::kMostClients + 1, 4, executor);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "1048577 clients: expected at most 1048576, for which sums have room");
  }
}
}  // namespace
}  // namespace fedhur::experiment
