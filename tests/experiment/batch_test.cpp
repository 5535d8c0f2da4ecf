#include "fedhur/experiment/batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/training.hpp"
#include "tests/support/support.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::experiment {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using tests::TempFolder;
using tests::tiny_settings;

BatchRun tiny_run(const fs::path& folder, const std::string& method,
                  const std::vector<std::string>& assignments = {}) {
  BatchRun run{.settings = tiny_settings(method), .folder = folder};
  for (const auto& assignment : assignments) add_assignment(run.settings, assignment);
  return run;
}

std::vector<report::RoundReport> rounds_of(const fs::path& folder) {
  return RunFolder::open(folder).read_rounds();
}

void expect_same_rounds(const fs::path& a, const fs::path& b) {
  const auto rounds_a = rounds_of(a);
  const auto rounds_b = rounds_of(b);
  ASSERT_EQ(rounds_a.size(), rounds_b.size());
  for (std::size_t i = 0; i < rounds_a.size(); ++i) {
    EXPECT_EQ(rounds_a[i].valid, rounds_b[i].valid) << i;
    EXPECT_EQ(rounds_a[i].test, rounds_b[i].test) << i;
    EXPECT_EQ(rounds_a[i].loss, rounds_b[i].loss) << i;
  }
}

TEST(Batch, GivesEveryRunTheBitsItHasAlone) {
  const TempFolder folder;
  const std::vector<std::string> methods = {"fedmf", "fedhur", "fedcia", "fedncf", "local"};
  std::vector<BatchRun> runs;
  for (const auto& method : methods) runs.push_back(tiny_run(folder / method, method));
  const auto outcomes = run_batch(runs, {.parallel = 3}, {});
  ASSERT_EQ(outcomes.size(), runs.size());
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const fs::path alone = folder / (methods[i] + "-alone");
    const auto expected = tests::train_tiny(alone, tiny_settings(methods[i])).result;
    EXPECT_EQ(outcomes[i].state, RunState::finished);
    EXPECT_EQ(outcomes[i].result.method, methods[i]);
    EXPECT_EQ(outcomes[i].result.valid, expected.valid);
    EXPECT_EQ(outcomes[i].result.test, expected.test);
    expect_same_rounds(runs[i].folder, alone);
    EXPECT_EQ(read_file(runs[i].folder / "model" / "model.bin"),
              read_file(alone / "model" / "model.bin"));
  }
}

TEST(Batch, GoesOnWhenRunsFail) {
  const TempFolder folder;
  write_file_atomically(folder / "file", "not a folder");
  const std::vector<BatchRun> runs = {
      tiny_run(folder / "typo", "fedmf", {"train.learning_rat=1"}),
      tiny_run(folder / "good", "fedmf"),
      // Adam takes steps of about the learning rate: the first makes every product overflow.
      tiny_run(folder / "diverged", "local", {"train.learning_rate=3e38"}),
      tiny_run(folder / "file" / "below", "fedmf")};
  std::vector<std::string> ends(runs.size());
  const BatchHooks hooks{.on_round = {},
                         .on_end =
                             [&](std::size_t run, const BatchOutcome& outcome) {
                               ends[run] = outcome.problem.empty() ? "good" : outcome.problem;
                             },
                         .should_stop = {}};
  const auto outcomes = run_batch(runs, {.parallel = 2}, hooks);
  EXPECT_EQ(outcomes[0].state, RunState::failed);
  EXPECT_THAT(ends[0], HasSubstr("did you mean 'train.learning_rate'?"));
  EXPECT_FALSE(fs::exists(folder / "typo")) << "nothing to keep, and in the way of the next try";
  EXPECT_EQ(outcomes[1].state, RunState::finished);
  EXPECT_EQ(ends[1], "good");
  EXPECT_EQ(outcomes[2].state, RunState::failed);
  EXPECT_THAT(ends[2], HasSubstr("the training diverged"));
  EXPECT_EQ(outcomes[3].state, RunState::failed);
  EXPECT_THAT(ends[3], HasSubstr("cannot create the folder"));
}

TEST(Batch, EndsAtOnceWhenTheDiskIsFull) {
  const TempFolder folder;
  std::vector<BatchRun> runs;
  for (const std::string name : {"a", "b", "c"}) runs.push_back(tiny_run(folder / name, "fedmf"));
  // A folder in the place of the file that lists the rounds: nothing can be written there.
  runs[1].pause_after = 1;
  (void)run_batch({runs[1]}, {}, {});
  runs[1].pause_after = 0;
  fs::remove(folder / "b" / "rounds.jsonl");
  fs::create_directories(folder / "b" / "rounds.jsonl" / "in the way");
  EXPECT_THROW((void)run_batch(runs, {}, {}), FileError);
  EXPECT_TRUE(fs::exists(folder / "a" / "result.json")) << "what was there stays";
  EXPECT_FALSE(fs::exists(folder / "c")) << "nothing new is begun";
  fs::remove_all(folder / "b" / "rounds.jsonl");
  for (const auto& outcome : run_batch(runs, {}, {})) {
    EXPECT_EQ(outcome.state, RunState::finished);
  }
}

TEST(Batch, PausesAndGoesOnWithoutATrace) {
  const TempFolder folder;
  auto runs = std::vector<BatchRun>{tiny_run(folder / "paused", "fedmf"),
                                    tiny_run(folder / "whole", "fedmf")};
  runs[0].pause_after = 2;
  for (int repetition = 0; repetition < 2; ++repetition) {  // it pauses once, and stays
    const auto outcomes = run_batch(runs, {.parallel = 1}, {});
    EXPECT_EQ(outcomes[0].state, RunState::paused);
    EXPECT_EQ(outcomes[1].state, RunState::finished);
    EXPECT_EQ(rounds_of(runs[0].folder).size(), 2U);
  }
  runs[0].pause_after = 0;
  EXPECT_EQ(run_batch(runs, {.parallel = 2}, {})[0].state, RunState::finished);
  expect_same_rounds(runs[0].folder, runs[1].folder);
}

TEST(Batch, SavesWhatRunsWhenItIsToldToStop) {
  const TempFolder folder;
  std::vector<BatchRun> runs;
  for (const std::string name : {"a", "b", "c", "d"}) {
    runs.push_back(tiny_run(folder / name, "fedmf", {"stop.max_rounds=4"}));
  }
  int num_rounds = 0;
  int num_ends = 0;
  const BatchHooks hooks{.on_round = [&](auto, const auto&) { ++num_rounds; },
                         .on_end = [&](auto, const auto&) { ++num_ends; },
                         .should_stop = [&] { return num_rounds >= 2; }};
  for (const BatchOutcome& outcome : run_batch(runs, {.parallel = 2}, hooks)) {
    EXPECT_EQ(outcome.state, RunState::interrupted);
  }
  EXPECT_EQ(num_ends, 0);
  EXPECT_LE(num_rounds, 3) << "nothing new is begun";
  for (const BatchOutcome& outcome : run_batch(runs, {.parallel = 2}, {})) {
    EXPECT_EQ(outcome.state, RunState::finished);
  }
  for (const auto& run : runs) expect_same_rounds(run.folder, runs[0].folder);
}

TEST(Batch, HandsOnWhatAHookThrowsAndKeepsTheRuns) {
  const TempFolder folder;
  const std::vector<BatchRun> runs = {tiny_run(folder / "a", "fedmf"),
                                      tiny_run(folder / "b", "fedmf")};
  const BatchHooks full_disk{.on_round = [](auto, const auto&) { throw Error("no space left"); },
                             .on_end = {},
                             .should_stop = {}};
  EXPECT_THROW((void)run_batch(runs, {.parallel = 2}, full_disk), Error);
  EXPECT_EQ(run_batch(runs, {.parallel = 1}, {})[0].state, RunState::finished);
}

TEST(Batch, KeepsFinishedRunsAndRefusesThoseOfOtherSettings) {
  const TempFolder folder;
  const auto first = run_batch({tiny_run(folder / "run", "fedmf")}, {}, {});
  int num_rounds = 0;
  const BatchHooks hooks{
      .on_round = [&](auto, const auto&) { ++num_rounds; }, .on_end = {}, .should_stop = {}};
  const auto again = run_batch({tiny_run(folder / "run", "fedmf", {"threads=2"})}, {}, hooks);
  EXPECT_EQ(num_rounds, 0);
  EXPECT_EQ(again[0].result.valid, first[0].result.valid);
  try {
    (void)run_batch({tiny_run(folder / "new", "fedmf"),
                     tiny_run(folder / "run", "fedmf", {"train.learning_rate=0.125"})},
                    {}, {});
    FAIL() << "another learning rate went unnoticed";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("train.learning_rate is"));
    EXPECT_THAT(error.what(), HasSubstr("0.125 here"));
  }
  EXPECT_THROW((void)run_batch({tiny_run(folder / "run", "fedcia")}, {}, {}), ConfigError);
  EXPECT_THROW((void)run_batch({tiny_run(folder / "run", "local")}, {}, {}), ConfigError);
  EXPECT_FALSE(fs::exists(folder / "new")) << "nothing is begun";
}

TEST(Batch, KnowsARunOfASplitFileAgain) {
  const TempFolder folder;
  std::string text = "client\tuser\titem\tsplit\n";
  for (int user = 0; user < 8; ++user) {
    for (int item = 0; item < 6; ++item) {
      text += fmt::format("{}\t{}\t{}\t{}\n", user / 4, user, (user + item) % 9,
                          item == 0 ? "test" : (item == 1 ? "valid" : "train"));
    }
  }
  write_file_atomically(folder / "split.tsv", text);
  BatchRun run{.settings = {}, .folder = folder / "run"};
  for (const auto& assignment :
       {std::string("data.format=split"), std::string("method=fedmf"),
        "data.path=" + (folder / "split.tsv").string(), std::string("stop.max_rounds=2")}) {
    add_assignment(run.settings, assignment);
  }
  EXPECT_EQ(run_batch({run}, {}, {})[0].state, RunState::finished);
  EXPECT_EQ(run_batch({run}, {}, {})[0].state, RunState::finished);
  add_assignment(run.settings, "clients.kind=blocks");
  EXPECT_THROW((void)run_batch({run}, {}, {}), ConfigError);
}

TEST(Batch, LeavesModelsOutAndBeginsAnewAfterAKillAtTheStart) {
  const TempFolder folder;
  fs::create_directories(folder / "run" / "checkpoints");
  std::ofstream(folder / "run" / "manifest.json") << "{";
  std::ofstream(folder / "run" / "config.toml.part") << "meth";
  const auto outcomes =
      run_batch({tiny_run(folder / "run", "fedmf")}, {.parallel = 1, .keeps_models = false}, {});
  EXPECT_EQ(outcomes[0].state, RunState::finished);
  EXPECT_FALSE(fs::exists(folder / "run" / "model"));
  EXPECT_FALSE(fs::exists(folder / "run" / "config.toml.part"));
  EXPECT_TRUE(fs::is_empty(folder / "run" / "checkpoints"));
}
}  // namespace
}  // namespace fedhur::experiment
