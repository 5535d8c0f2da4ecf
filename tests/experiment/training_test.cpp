#include "fedhur/experiment/training.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "fedhur/base/file.hpp"
#include "fedhur/base/stopwatch.hpp"
#include "fedhur/experiment/stored_model.hpp"
#include "tests/support/support.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::experiment {
namespace {
namespace fs = std::filesystem;
using tests::TempFolder;
using tests::tiny_settings;
using tests::train_tiny;

void expect_same_outcome(const fs::path& a, const fs::path& b) {
  const auto result_a = report::run_result_from_json(read_text_file(a / "result.json"));
  const auto result_b = report::run_result_from_json(read_text_file(b / "result.json"));
  EXPECT_EQ(result_a.valid, result_b.valid);
  EXPECT_EQ(result_a.test, result_b.test);
  EXPECT_EQ(result_a.best_round, result_b.best_round);
  EXPECT_EQ(result_a.num_rounds, result_b.num_rounds);
  EXPECT_EQ(result_a.bytes_up, result_b.bytes_up);
  EXPECT_EQ(result_a.bytes_down, result_b.bytes_down);
  EXPECT_EQ(read_file(a / "model" / "model.bin"), read_file(b / "model" / "model.bin"));
  EXPECT_EQ(read_text_file(a / "inside.json"), read_text_file(b / "inside.json"));
  const auto rounds_a = RunFolder::open(a).read_rounds();
  const auto rounds_b = RunFolder::open(b).read_rounds();
  ASSERT_EQ(rounds_a.size(), rounds_b.size());
  for (std::size_t i = 0; i < rounds_a.size(); ++i) {
    EXPECT_EQ(rounds_a[i].round, static_cast<Round>(i));
    EXPECT_EQ(rounds_a[i].test, rounds_b[i].test) << i;
    EXPECT_EQ(rounds_a[i].loss, rounds_b[i].loss) << i;
  }
}

// "fedmf", or a variant of it: "fedmf_dropout", with clients away now and then, "fedmf_rate", with
// a server rate (and momentum for what averages), "fedmf_spectral", whose start is a round of its
// own.
class EveryMethod : public testing::TestWithParam<std::string> {
 protected:
  static ConfigTable settings(const std::string& name) {
    const auto end = name.find('_');
    ConfigTable table = tiny_settings(name.substr(0, end));
    const std::string variant = end == std::string::npos ? "" : name.substr(end);
    if (variant == "_dropout") {
      add_assignment(table, "federation.dropout=0.3");
      add_assignment(table, "stop.max_rounds=5");
    } else if (variant == "_spectral") {
      add_assignment(table, "model.start=spectral");
      if (name != "fedca_spectral") add_assignment(table, "server.rate=2");
      add_assignment(table, "federation.dropout=0.2");
    } else if (variant == "_rate") {
      add_assignment(table, "server.rate=3");
      if (name != "fedcia_rate" && name != "fedhur_rate") {
        add_assignment(table, "server.momentum=0.5");
      }
    }
    return table;
  }
};

TEST_P(EveryMethod, GivesTheSameBitsForAnyNumberOfThreadsAndEveryRepetition) {
  const TempFolder folder;
  for (const int threads : {1, 2, 3}) {
    ConfigTable table = settings(GetParam());
    add_assignment(table, "threads=" + std::to_string(threads));
    (void)train_tiny(folder / std::to_string(threads), table);
  }
  (void)train_tiny(folder / "again", settings(GetParam()));
  expect_same_outcome(folder / "1", folder / "2");
  expect_same_outcome(folder / "1", folder / "3");
  expect_same_outcome(folder / "1", folder / "again");
}

TEST_P(EveryMethod, RepeatsARunFromItsConfigFile) {
  const TempFolder folder;
  (void)train_tiny(folder / "first", settings(GetParam()));
  ConfigTable table;
  add_toml_file(table, folder / "first" / "config.toml");
  (void)train_tiny(folder / "second", table);
  expect_same_outcome(folder / "first", folder / "second");
  EXPECT_EQ(read_text_file(folder / "first" / "config.toml"),
            read_text_file(folder / "second" / "config.toml"));
}

TEST_P(EveryMethod, EndsTheSameAfterAStopAndResumeAtEveryRound) {
  const TempFolder folder;
  const TrainingOutcome whole = train_tiny(folder / "whole", settings(GetParam()));
  for (Round stop = 1; stop < whole.result.num_rounds; ++stop) {
    const fs::path path = folder / ("stop" + std::to_string(stop));
    ConfigTable table = settings(GetParam());
    int rounds = 0;
    const TrainingHooks hooks{.on_info = {},
                              .on_warning = {},
                              .on_phase = {},
                              .on_round = [&](const auto&, const auto&) { ++rounds; },
                              .should_stop = [&] { return rounds == stop; }};
    const TrainingOutcome interrupted = train(resolve(table), RunFolder::create(path), hooks);
    EXPECT_TRUE(interrupted.was_interrupted);
    EXPECT_FALSE(fs::exists(path / "result.json"));
    std::vector<std::string> warnings;
    const TrainingOutcome resumed =
        resume(RunFolder::open(path), 1,
               {.on_info = {},
                .on_warning = [&](const std::string& text) { warnings.push_back(text); },
                .on_phase = {},
                .on_round = {},
                .should_stop = {}});
    EXPECT_FALSE(resumed.was_interrupted);
    EXPECT_TRUE(warnings.empty());
    expect_same_outcome(folder / "whole", path);
  }
}
std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& method : methods::all_methods()) {
    names.push_back(method.name);
    names.push_back(method.name + "_dropout");
  }
  for (const char* method : {"fedmf", "fedncf", "pfedrec", "fedrap", "fedcia", "fedhur"}) {
    names.push_back(std::string(method) + "_rate");
  }
  for (const char* method : {"fedmf", "fedncf", "pfedrec", "fedca", "fedcia", "fedhur"}) {
    names.push_back(std::string(method) + "_spectral");
  }
  return names;
}
INSTANTIATE_TEST_SUITE_P(Registry, EveryMethod, testing::ValuesIn(method_names()),
                         [](const auto& method) { return method.param; });

TEST(SpectralStart, IsOneModelWhateverTheMethodLearnsFromIt) {
  const TempFolder folder;
  const auto first_round = [&](const std::string& method) {
    ConfigTable table = tiny_settings(method);
    add_assignment(table, "model.start=spectral");
    add_assignment(table, "stop.max_rounds=1");
    (void)train_tiny(folder / method, table);
    return RunFolder::open(folder / method).read_rounds().at(0).test;
  };
  const auto expected = first_round("fedmf");
  EXPECT_GT(expected.at("ndcg@10"), 0.2);
  for (const char* method : {"fedncf", "pfedrec", "fedca", "fedcia", "fedhur"}) {
    EXPECT_EQ(first_round(method), expected) << method;
  }
}

TEST(Dropout, IsInTheRecordOfTheRoundsAndNobodyIsLeftOutOfTheOutcome) {
  const TempFolder folder;
  for (const auto& method : methods::all_methods()) {
    SCOPED_TRACE(method.name);
    ConfigTable table = tiny_settings(method.name);
    const auto whole = train_tiny(folder / (method.name + "_whole"), table);
    add_assignment(table, "federation.dropout=0.3");
    const auto outcome = train_tiny(folder / method.name, table);
    const RunFolder run = RunFolder::open(folder / method.name);
    std::set<std::vector<Index>> absent;
    for (const auto& report : run.read_rounds()) absent.insert(report.absent);
    EXPECT_GT(absent.size(), 1U) << "others in other rounds";
    EXPECT_NE(*absent.rbegin(), std::vector<Index>());
    EXPECT_LT(outcome.result.bytes_up, whole.result.bytes_up);
    const StoredModel model(run.model());
    for (Index user = 0; user < whole.result.num_users; ++user) {
      EXPECT_TRUE(model.has_model(user_id(user))) << user;
    }
  }
}

// Runs `action` in a process of its own and kills it after a while, unless it has ended by then.
template <class Action>
void run_and_kill(std::chrono::microseconds after, Action action) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      action();
    } catch (...) {
      _exit(1);  // never back into the test program
    }
    _exit(0);
  }
  std::this_thread::sleep_for(after);
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
}

TEST(Training, EndsTheSameHoweverOftenItIsKilled) {
  const TempFolder folder;
  const auto settings = [](Round every) {
    ConfigTable table = tiny_settings("fedmf");
    add_assignment(table, "stop.max_rounds=12");
    add_assignment(table, "checkpoint.every=" + std::to_string(every));
    return table;
  };
  const Stopwatch watch;
  (void)train_tiny(folder / "whole", settings(1));
  // Kills fall anywhere between the start and a little after the end, however slow the build is.
  const auto longest = static_cast<std::uint64_t>(1.2e6 * watch.seconds());
  Rng rng(2026);
  int num_resumed = 0;
  for (int trial = 0; trial < 6; ++trial) {
    const fs::path path = folder / ("killed" + std::to_string(trial));
    const RunFolder run = RunFolder::create(path);
    const Round every = trial % 2 == 0 ? 1 : 3;
    run_and_kill(std::chrono::microseconds(rng.below(longest)), [&] {
      ConfigTable table = settings(every);
      (void)train(resolve(table), run, {});
    });
    if (!fs::exists(run.config())) continue;  // killed before there was anything to resume
    for (int kills = 0; kills < 4; ++kills) {
      run_and_kill(std::chrono::microseconds(rng.below(longest)),
                   [&] { (void)resume(RunFolder::open(path), 1, {}); });
    }
    const TrainingOutcome outcome = resume(RunFolder::open(path), 2, {});
    EXPECT_FALSE(outcome.was_interrupted);
    expect_same_outcome(folder / "whole", path);
    ++num_resumed;
  }
  EXPECT_GT(num_resumed, 0);
}

TEST(Training, RefusesToResumeADamagedCheckpoint) {
  const TempFolder folder;
  ConfigTable table = tiny_settings("fedmf");
  const TrainingHooks stop_at_once{
      .on_info = {}, .on_warning = {}, .on_phase = {}, .on_round = {}, .should_stop = [] {
        return true;
      }};
  (void)train(resolve(table), RunFolder::create(folder / "run"), stop_at_once);
  const fs::path checkpoint = fs::directory_iterator(folder / "run" / "checkpoints")->path();
  std::vector<std::byte> bytes = read_file(checkpoint);
  bytes[bytes.size() / 2] ^= std::byte{1};
  write_file_atomically(checkpoint, bytes);
  EXPECT_THROW((void)resume(RunFolder::open(folder / "run"), 1, {}), DataError);
}

TEST(Training, RefusesToResumeOnOtherData) {
  const TempFolder folder;
  const auto write_data = [&](int extra) {
    std::string text = "user,item\n";
    for (int user = 0; user < 8; ++user) {
      for (int item = 0; item < 6; ++item)
        text += fmt::format("u{},i{}\n", user, (user + item) % 9);
    }
    for (int i = 0; i < extra; ++i) text += fmt::format("new{},i0\n", i);
    write_file_atomically(folder / "data.csv", text);
  };
  write_data(0);
  ConfigTable settings;
  for (const auto& assignment :
       {std::string("clients.count=2"), std::string("stop.max_rounds=3"),
        "data.path=" + (folder / "data.csv").string(), std::string("model.embedding_dim=3")}) {
    add_assignment(settings, assignment);
  }
  (void)train(resolve(settings), RunFolder::create(folder / "run"),
              {.on_info = {}, .on_warning = {}, .on_phase = {}, .on_round = {}, .should_stop = [] {
                 return true;
               }});
  write_data(1);
  EXPECT_THROW((void)resume(RunFolder::open(folder / "run"), 1, {}), DataError);
}

TEST(Training, StopsAfterItsPatienceAndReportsTheBestRound) {
  const TempFolder folder;
  ConfigTable table = tiny_settings("fedmf");
  add_assignment(table, "stop.max_rounds=200");
  add_assignment(table, "stop.patience=4");
  const TrainingOutcome outcome = train_tiny(folder / "run", table);
  const auto rounds = RunFolder::open(folder / "run").read_rounds();
  ASSERT_LT(outcome.result.num_rounds, 200);
  EXPECT_EQ(outcome.result.num_rounds - outcome.result.best_round, 4);
  const auto& best = rounds[static_cast<std::size_t>(outcome.result.best_round - 1)];
  EXPECT_TRUE(best.is_best);
  EXPECT_EQ(outcome.result.test, best.test);
  for (const auto& round : rounds) EXPECT_LE(round.valid.at("f1@10"), best.valid.at("f1@10"));
}

TEST(Training, BeatsPopularityOnTheBuiltInData) {
  const TempFolder folder;
  const auto ndcg = [&](const std::string& method) {
    ConfigTable table;
    add_assignment(table, "method=" + method);
    if (method != "popularity") {
      add_assignment(table, "model.embedding_dim=32");
      add_assignment(table, "stop.max_rounds=30");
    }
    return train_tiny(folder / method, table).result.test.at("ndcg@10");
  };
  const double popularity = ndcg("popularity");
  EXPECT_GT(popularity, 0.0);
  EXPECT_GT(ndcg("fedmf"), 1.2 * popularity);
}

TEST(StoredModel, RecommendsWhatTheUserHasNotSeen) {
  const TempFolder folder;
  (void)train_tiny(folder / "run", tiny_settings("fedmf"));
  const StoredModel model(folder / "run" / "model");
  ASSERT_EQ(model.user_names().size(), 40U);
  for (Index user = 0; user < 40; ++user) {
    const auto seen = model.seen(user_id(user));
    const auto recommended = model.recommend(user_id(user), 60);
    EXPECT_EQ(recommended.size() + seen.size(), static_cast<std::size_t>(model.num_items()));
    for (std::size_t i = 1; i < recommended.size(); ++i) {
      EXPECT_GE(recommended[i - 1].score, recommended[i].score);
    }
    for (const auto& item : seen) {
      EXPECT_TRUE(std::none_of(recommended.begin(), recommended.end(),
                               [&](const auto& r) { return r.item == item.item; }));
    }
  }
  EXPECT_THROW((void)model.find_user("nobody at all"), ConfigError);
  EXPECT_THROW(StoredModel(folder / "nowhere"), Error);
}
}  // namespace
}  // namespace fedhur::experiment
