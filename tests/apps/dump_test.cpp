#include "process.hpp"
#include "tests/support/npy.hpp"

namespace fedhur::tests {
namespace {
namespace fs = std::filesystem;

constexpr Index kClients = 7;
constexpr Index kItems = 90;
constexpr Index kWidth = 8;

Arguments dump_flags(const std::string& round, const std::string& folder) {
  return {"--dump-round", round, "--dump-dir", folder};
}

using Shape = std::vector<Index>;

Shape shape_of(const fs::path& path) { return read_npy(path).shape; }

void expect_all_clients(const fs::path& folder, const Shape& shape) {
  Index count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_EQ(shape_of(entry.path()), shape) << entry.path();
    ++count;
  }
  EXPECT_EQ(count, kClients) << folder;
  EXPECT_TRUE(fs::exists(folder / "0.npy") && fs::exists(folder / "6.npy")) << folder;
}

void expect_common_files(const fs::path& dump) {
  expect_all_clients(dump / "item_embeddings", {kItems, kWidth});
  expect_all_clients(dump / "fine_tuned", {kItems, kWidth});
  EXPECT_EQ(shape_of(dump / "global_item_embeddings.npy"), (Shape{kItems, kWidth}));
  EXPECT_EQ(shape_of(dump / "global_filter_basis.npy"), (Shape{kItems, kWidth}));
  EXPECT_EQ(shape_of(dump / "global_filter_values.npy"), (Shape{kWidth}));
}

TEST(Dump, HoldsEveryDocumentedFileInItsShape) {
  const Workplace place;
  const Finished finished =
      place.train("run", Arguments{"--method", "fedhur"} + dump_flags("2", "dump"));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, Not(HasSubstr("warning")));
  const fs::path dump = place / "dump";
  expect_common_files(dump);
  const json config = json::parse(place.read("dump/config.json"));
  for (const char* key : {"beta", "tau", "lambda", "clip", "form", "filter_scale"}) {
    EXPECT_TRUE(config.contains(key)) << key;
  }
  EXPECT_EQ(config.at("round"), 2);
  EXPECT_EQ(config.at("beta").size(), 3U);

  const json hierarchy = json::parse(place.read("dump/hierarchy.json"));
  ASSERT_EQ(hierarchy.at(0).at("parent"), nullptr);
  ASSERT_EQ(hierarchy.at(0).at("members").size(), 8U);
  ASSERT_EQ(hierarchy.back().at("level"), 2);
  Index id = 0;
  for (const json& scope : hierarchy) {
    EXPECT_EQ(scope.at("id"), id);
    const fs::path folder = dump / "scopes" / std::to_string(id++);
    const auto m = static_cast<Index>(scope.at("members").size());
    EXPECT_EQ(shape_of(folder / "projection.npy"), (Shape{m, 16}));
    EXPECT_EQ(shape_of(folder / "global_relation_filter.npy"), (Shape{m, m}));
    for (const char* name : {"direct_scores", "retrieval_scores", "aggregation_weights"}) {
      EXPECT_EQ(shape_of(folder / (std::string(name) + ".npy")), (Shape{kClients, kClients}));
    }
    expect_all_clients(folder / "projected_query", {m, 16});
    expect_all_clients(folder / "residual_filter", {m, m});
  }
}

TEST(Dump, OfFedCiaHoldsWhatItHas) {
  const Workplace place;
  const Finished finished =
      place.train("run", Arguments{"--method", "fedcia"} + dump_flags("3", "run/dump"));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  expect_common_files(place / "run" / "dump");
  EXPECT_FALSE(place.has("run/dump/scopes"));
}

void expect_refusal(const Workplace& place, const Arguments& arguments, const std::string& part) {
  const Finished finished = place.train("run", Arguments{"--method", "fedhur"} + arguments);
  EXPECT_EQ(finished.exit_code, 2) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr(part));
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  EXPECT_FALSE(place.has("run")) << "nothing was trained";
}

TEST(Dump, MistakesComeToLightBeforeTraining) {
  const Workplace place;
  expect_refusal(place, {"--dump-round", "1"}, "--dump-dir is missing");
  expect_refusal(place, {"--dump-dir", "dump"}, "--dump-round is missing");
  expect_refusal(place, dump_flags("some", "dump"), "expected a whole number");
  for (const char* round : {"0", "-1", "4"}) {
    expect_refusal(place, dump_flags(round, "dump"), "expected a round from 1 to 3");
  }
  place.write("file", "");
  expect_refusal(place, dump_flags("1", "file"), "not a folder");
  fs::create_directory(place / "full");
  place.write("full/something", "x");
  expect_refusal(place, dump_flags("1", "full"), "full exists and is not empty");
  for (const char* method : {"popularity", "local", "fedmf"}) {
    const Finished finished = place.fedhur(
        Arguments{"train", "--out", "run", "--method", method, "--set", "stop.max_rounds=3"} +
        dump_flags("1", "dump"));
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr("has nothing to show"));
    EXPECT_THAT(finished.err, HasSubstr("fedcia, fedhur"));
  }
  EXPECT_FALSE(place.has("run"));
  EXPECT_FALSE(place.has("dump"));
}

TEST(Dump, NeedsAFolderThatCanBeMade) {
  const Workplace place;
  place.write("file", "");
  const Finished finished =
      place.train("run", Arguments{"--method", "fedhur"} + dump_flags("1", "file/dump"));
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("cannot create the folder file/dump: Not a directory"));
  EXPECT_FALSE(place.has("run"));
  // The run folder is no place for a dump, a folder in it is.
  const Finished same =
      place.train("run", Arguments{"--method", "fedhur"} + dump_flags("1", "run"));
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_THAT(same.err, HasSubstr("run exists and is not empty"));
  EXPECT_FALSE(place.has("run"));
}

TEST(Dump, IsNotForAResumedRun) {
  const Workplace place;
  ASSERT_EQ(place.train("run", {"--method", "fedcia"}).exit_code, 0);
  const Finished finished =
      place.fedhur(Arguments{"train", "--resume", "run"} + dump_flags("1", "dump"));
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("leave out --dump-round, --dump-dir"));
}

TEST(Dump, AFullDiskEndsTheRunWithOneSentence) {
  const Workplace place;
  // A limit on the size of files, as a disk that is full for the larger ones.
  const Finished finished = place.shell(
      "trap '' XFSZ; ulimit -f 16; $FEDHUR train --quiet --method fedhur --out run "
      "--set synthetic.num_items=400 --set clients.count=5 --set stop.max_rounds=1 "
      "--dump-round 1 --dump-dir dump");
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_EQ(finished.err, "fedhur: cannot write dump/item_embeddings/0.npy: File too large\n");
}

TEST(Dump, OfARoundThatNeverCameIsAWarning) {
  const Workplace place;
  const Finished finished = place.train(
      "run",
      Arguments{"--method", "fedcia", "--set", "stop.max_rounds=300", "--set", "stop.patience=1"} +
          dump_flags("300", "dump"));
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.err, HasSubstr("fedhur: warning: the run stopped after round"));
  EXPECT_THAT(finished.err, HasSubstr("round 300 was not dumped to dump\n"));
}
}  // namespace
}  // namespace fedhur::tests
