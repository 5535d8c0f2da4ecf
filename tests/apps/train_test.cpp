#include "process.hpp"

namespace fedhur::tests {
namespace {
TEST(Train, PrintsASummaryThatEndsWithTheRunFolder) {
  const Workplace place;
  const Finished finished = place.train("run");
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("recall@10  mrr@10  ndcg@10"));
  EXPECT_THAT(finished.out, HasSubstr("best round"));
  EXPECT_THAT(finished.out, EndsWith("\nrun folder: run\n"));
  EXPECT_THAT(finished.err, HasSubstr("round   3"));
  EXPECT_THAT(finished.err, HasSubstr("fedhur recommend run --user"));
  for (const char* name :
       {"config.toml", "manifest.json", "rounds.jsonl", "result.json", "log.txt"}) {
    EXPECT_TRUE(place.has(std::string("run/") + name)) << name;
  }
  EXPECT_THAT(place.read("run/log.txt"), HasSubstr("round   3"));
}

TEST(Train, NumbersItsRunsUnlessToldWhereToPutThem) {
  const Workplace place;
  ASSERT_EQ(place.fedhur(Arguments{"train"} + small_settings()).exit_code, 0);
  const Finished second = place.fedhur(Arguments{"train"} + small_settings());
  EXPECT_THAT(second.out, EndsWith("run folder: runs/fedhur-0002\n"));
  EXPECT_EQ(place.train("runs/fedhur-0001").exit_code, 2) << "a run is never overwritten";
}

TEST(Train, JsonIsOneObjectOfTheDocumentedShape) {
  const Workplace place;
  const Finished finished = place.train("run", {"--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json result = json::parse(finished.out);
  EXPECT_EQ(result, json::parse(place.read("run/result.json")));
  for (const char* key : {"method", "data", "run"}) EXPECT_TRUE(result.at(key).is_string()) << key;
  for (const char* key :
       {"seed", "clients", "users", "items", "rounds", "best_round", "peak_rss_mb"}) {
    EXPECT_TRUE(result.at(key).is_number_integer()) << key;
  }
  for (const char* part : {"valid", "test"}) {
    for (const char* metric : {"recall@10", "mrr@10", "ndcg@10"}) {
      EXPECT_TRUE(result.at(part).at(metric).is_number_float()) << part << metric;
    }
  }
  for (const char* phase : {"total", "local_training", "server", "fine_tuning", "evaluation"}) {
    EXPECT_TRUE(result.at("seconds").at(phase).is_number()) << phase;
  }
  EXPECT_TRUE(result.at("bytes_per_client_round").at("up").is_number());
  EXPECT_EQ(result.at("clients"), 7);
  EXPECT_EQ(result.at("users"), 60);
  EXPECT_THAT(finished.err, HasSubstr("round   1"));
}

TEST(Train, QuietSaysNothingButTheResult) {
  const Workplace place;
  const Finished finished = place.train("run", {"--quiet"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_THAT(finished.out, EndsWith("run folder: run\n"));
}

TEST(Train, NamedFlagsWinOverSetAndSetOverTheFile) {
  const Workplace place;
  place.write("settings.toml", "seed = 1\n[stop]\nmax_rounds = 7\npatience = 5\n");
  const Finished shown = place.fedhur({"train", "--seed", "3", "--config", "settings.toml", "--set",
                                       "seed=2", "--set", "stop.max_rounds=8", "--show-config"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("seed = 3\n"));
  EXPECT_THAT(shown.out, HasSubstr("max_rounds = 8\n"));
  EXPECT_THAT(shown.out, HasSubstr("patience = 5\n"));
  EXPECT_FALSE(place.has("runs"));
}

TEST(Train, ASplitFileAloneIsTheData) {
  const Workplace place;
  const Finished alone = place.fedhur({"train", "--split-file", "s.tsv", "--show-config"});
  EXPECT_THAT(alone.out, HasSubstr("path = \"s.tsv\""));
  EXPECT_THAT(alone.out, HasSubstr("format = \"split\""));
  const Finished both =
      place.fedhur({"train", "--data", "u.data", "--split-file", "s.tsv", "--show-config"});
  EXPECT_THAT(both.out, HasSubstr("path = \"u.data\""));
  EXPECT_THAT(both.out, HasSubstr("split_file = \"s.tsv\""));
  const Finished made = place.fedhur({"train", "--format", "synthetic", "--show-config"});
  EXPECT_THAT(made.out, HasSubstr("path = \"synthetic\""));
  EXPECT_EQ(place.fedhur({"train", "--format", "synthetic", "--data", "x"}).exit_code, 2);
}

TEST(Train, TakesTunedSettingsByTheNameOfTheDataBelowAllThatIsGiven) {
  const Workplace place;
  const auto shown = [&](const Arguments& arguments) {
    const Finished finished =
        place.fedhur(Arguments{"train", "--show-config", "--method", "fedmf"} + arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  };
  // configs/tuned/book/fedmf.toml has embeddings of width 256.
  EXPECT_THAT(shown({"--data", "book/rlmrec-split.tsv.gz"}), HasSubstr("embedding_dim = 128\n"));
  EXPECT_THAT(shown({"--data", "book/rlmrec-split.tsv.gz", "--tuned"}),
              HasSubstr("embedding_dim = 256\n"));
  EXPECT_THAT(shown({"--tuned=book"}), HasSubstr("embedding_dim = 256\n"));
  EXPECT_THAT(shown({"--tuned", "book", "--data", "other.csv"}),
              HasSubstr("embedding_dim = 256\n"));
  EXPECT_THAT(shown({"--set", "model.embedding_dim=9", "--tuned", "book"}),
              HasSubstr("embedding_dim = 9\n"));
  place.write("own.toml", "[model]\nembedding_dim = 8\n");
  EXPECT_THAT(shown({"--tuned", "book", "--config", "own.toml"}), HasSubstr("embedding_dim = 8\n"));
  place.write("fedcia.toml", "method = \"fedcia\"\n");
  const Finished by_file =
      place.fedhur({"train", "--config", "fedcia.toml", "--tuned", "ml-1m", "--show-config"});
  EXPECT_THAT(by_file.out, AllOf(HasSubstr("method = \"fedcia\""), HasSubstr("rate = 8.0\n")));

  for (const Arguments& arguments :
       {Arguments{"--tuned"}, Arguments{"--data", "shop.csv", "--tuned"},
        Arguments{"--tuned", "ml-100k", "--method", "popularity"}}) {
    const Finished finished = place.fedhur(Arguments{"train"} + arguments);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr("fedhur: --tuned: there are no tuned settings "));
  }
  EXPECT_FALSE(place.has("runs"));
  const Finished server =
      place.fedhur({"server", "--tuned", "--items", "items.tsv", "--clients", "3", "--insecure"});
  EXPECT_EQ(server.exit_code, 2);

  ASSERT_EQ(place.train("run", {"--tuned", "ml-1m", "--method", "fedmf"}).exit_code, 0);
  EXPECT_THAT(place.read("run/config.toml"), HasSubstr("rate = 8.0\n"));
}

TEST(Train, TakesThePublishedRegimeByOneWord) {
  const Workplace place;
  const Finished shown = place.fedhur({"train", "--preset", "paper", "--show-config"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  for (const char* line :
       {"\nlocal_epochs = 1\n", "\nlearning_rate = 0.1\n", "\nlearning_rate_decay = 1.0\n",
        "\nsolver = \"gradient\"\n", "\nrefinement_weight = 0.5\n", "\nlevel_weights = [1.0]\n"}) {
    EXPECT_THAT(shown.out, HasSubstr(line));
  }
  const Finished changed = place.fedhur({"train", "--preset", "paper", "--show-config", "--method",
                                         "fedmf", "--set", "train.local_epochs=3"});
  EXPECT_THAT(changed.out, HasSubstr("\nlocal_epochs = 3\n"));
  EXPECT_THAT(changed.out, HasSubstr("\nlearning_rate = 0.1\n"));

  for (const std::string method :
       {"local", "fedmf", "fedncf", "pfedrec", "gpfedrec", "fedrap", "fedca", "fedcia", "fedhur"}) {
    const Finished finished =
        place.train(method, {"--preset", "paper", "--method", method, "--json"});
    ASSERT_EQ(finished.exit_code, 0) << method << finished.err;
    EXPECT_EQ(json::parse(finished.out).at("method"), method);
    EXPECT_THAT(place.read(method + "/config.toml"), HasSubstr("\npatience = 10\n"));
  }
  for (const Arguments& arguments :
       {Arguments{"--preset", "papers"}, Arguments{"--preset", "paper", "--method", "popularity"},
        Arguments{"--preset", "paper", "--tuned", "ml-100k"}}) {
    const Finished finished = place.fedhur(Arguments{"train"} + arguments);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr("--preset"));
  }
}

TEST(Train, RepeatsARunFromItsConfigFile) {
  const Workplace place;
  ASSERT_EQ(place.train("first", {"--seed", "5"}).exit_code, 0);
  ASSERT_EQ(place.fedhur({"train", "--config", "first/config.toml", "--out", "second"}).exit_code,
            0);
  const json first = json::parse(place.read("first/result.json"));
  const json second = json::parse(place.read("second/result.json"));
  EXPECT_EQ(first.at("test"), second.at("test"));
  EXPECT_EQ(first.at("valid"), second.at("valid"));
  EXPECT_EQ(place.read("first/model/model.bin"), place.read("second/model/model.bin"));
}

TEST(Train, ResumingAFinishedRunShowsItsResultAgain) {
  const Workplace place;
  ASSERT_EQ(place.train("run").exit_code, 0);
  const Finished again = place.fedhur({"train", "--resume", "run", "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(json::parse(again.out), json::parse(place.read("run/result.json")));
}

TEST(Train, BadRowsAreSkippedAndCountedOnRequest) {
  const Workplace place;
  std::string rows = "user,item\n,nobody\n";
  for (int user = 0; user < 12; ++user) {
    for (int item = 0; item < 9; ++item) {
      rows += "u" + std::to_string(user) + ",i" + std::to_string((user + item) % 20) + "\n";
    }
  }
  place.write("rows.csv", rows);
  const Arguments arguments = {"train",           "--data", "rows.csv",
                               "--out",           "run",    "--set",
                               "clients.count=3", "--set",  "stop.max_rounds=1"};
  EXPECT_EQ(place.fedhur(arguments).exit_code, 3);
  const Finished skipped = place.fedhur(arguments + Arguments{"--skip-bad-rows"});
  EXPECT_EQ(skipped.exit_code, 0) << skipped.err;
  EXPECT_THAT(skipped.err, HasSubstr("fedhur: warning: 1 bad row"));
}
}  // namespace
}  // namespace fedhur::tests
