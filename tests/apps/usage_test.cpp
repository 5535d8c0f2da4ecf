#include "process.hpp"

namespace fedhur::tests {
namespace {
void expect_one_sentence(const Finished& finished, int exit_code, const std::string& part) {
  EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_THAT(finished.err, StartsWith("fedhur: "));
  EXPECT_THAT(finished.err, HasSubstr(part));
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
}

TEST(Usage, HelpAndVersionGoToStandardOutput) {
  const Workplace place;
  const Finished help = place.fedhur({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("recommend"));
  EXPECT_THAT(help.out, HasSubstr("Examples:"));
  EXPECT_THAT(help.err, IsEmpty());
  const Finished train = place.fedhur({"train", "--help"});
  EXPECT_EQ(train.exit_code, 0);
  EXPECT_THAT(train.out, HasSubstr("fedmf"));
  EXPECT_THAT(train.out, HasSubstr("stop.max_rounds"));
  EXPECT_THAT(train.out, HasSubstr("wire.precision"));
  const Finished version = place.fedhur({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, StartsWith("fedhur "));
}

TEST(Usage, MistakesNameWhatWasProbablyMeant) {
  const Workplace place;
  expect_one_sentence(place.fedhur({}), 2, "expected a command");
  expect_one_sentence(place.fedhur({"trian"}), 2, "did you mean 'train'?");
  expect_one_sentence(place.fedhur({"data", "inspct", "x"}), 2, "did you mean 'inspect'?");
  expect_one_sentence(place.fedhur({"train", "--metod", "fedmf"}), 2, "did you mean '--method'?");
  expect_one_sentence(place.fedhur({"train", "--method", "fedmff"}), 2, "did you mean 'fedmf'?");
  expect_one_sentence(place.fedhur({"train", "--set", "stop.max_round=3"}), 2,
                      "did you mean 'stop.max_rounds'?");
  expect_one_sentence(place.fedhur({"train", "--format", "csw"}), 2, "did you mean 'csv'?");
  expect_one_sentence(place.fedhur({"train", "more"}), 2, "does not expect the argument 'more'");
}

TEST(Usage, WrongValuesEndWithCodeTwo) {
  const Workplace place;
  expect_one_sentence(place.fedhur({"train", "--seed", "many"}), 2, "expected a whole number");
  expect_one_sentence(place.fedhur({"train", "--seed", "-1"}), 2, "(from --seed)");
  expect_one_sentence(place.fedhur({"train", "--seed"}), 2, "--seed");
  expect_one_sentence(place.fedhur({"train", "--set", "stop.patience"}), 2, "expected key=value");
  expect_one_sentence(place.fedhur({"train", "--config", "none.toml"}), 2, "none.toml");
  expect_one_sentence(place.fedhur({"train", "--resume", "none"}), 2, "none");
  expect_one_sentence(place.fedhur({"train", "--resume", "x", "--seed", "1", "--set", "a=1"}), 2,
                      "leave out --set, --seed");
  EXPECT_FALSE(place.has("runs")) << "a run that cannot begin leaves nothing behind";
}

TEST(Usage, BadDataEndsWithCodeThreeAndLeavesNoRunBehind) {
  const Workplace place;
  expect_one_sentence(place.fedhur({"train", "--data", "none.csv", "--out", "run"}), 3, "none.csv");
  place.write("bad.csv", "user,item,rating\na,x,5\na,y,good\n");
  expect_one_sentence(place.fedhur({"train", "--data", "bad.csv", "--out", "run"}), 3,
                      "bad.csv:3:");
  EXPECT_FALSE(place.has("run"));
}

TEST(Usage, ResultsThatCannotBeWrittenAreAFailure) {
  const Workplace place;
  const Finished full = place.shell("$FEDHUR --help > /dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("cannot write to standard output"));
  EXPECT_EQ(place.shell("$FEDHUR --version >&-").exit_code, 1);
}

TEST(Usage, AReaderThatLeavesIsNoFailure) {
  const Workplace place;
  ASSERT_EQ(place.train("run").exit_code, 0);
  const Finished head =
      place.shell("set -o pipefail; $FEDHUR recommend run --all --top 90 | head -n 1");
  EXPECT_EQ(head.exit_code, 0);
  EXPECT_EQ(head.out, "user,rank,item,title,score\n");
  EXPECT_THAT(head.err, IsEmpty());
}

TEST(Usage, ClosedStandardStreamsDoNotSpillIntoTheRunFolder) {
  const Workplace place;
  const Finished closed = place.shell(
      "$FEDHUR train --out run --set synthetic.num_users=60 --set synthetic.num_items=90 "
      "--set synthetic.num_interactions=1500 --set clients.count=7 --set stop.max_rounds=1 >&- "
      "2>&-");
  EXPECT_EQ(closed.exit_code, 1);
  EXPECT_TRUE(place.has("run/result.json"));
  EXPECT_THAT(place.read("run/log.txt"), Not(HasSubstr("run folder:")));
}
}  // namespace
}  // namespace fedhur::tests
