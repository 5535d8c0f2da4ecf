#include <algorithm>

#include "process.hpp"

namespace fedhur::tests {
namespace {
constexpr const char* kRatings =
    "user,item,rating,timestamp\n"
    "ann,\"tea, green\",5,86400\n"
    "ann,cup,3,90000\n"
    "bob,cup,4.5,100000\n"
    "cid,cup,3,200000\n"
    "cid,\"the \"\"pot\"\"\",1,172800\n";

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines = text_lines_of(text);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(Data, InspectCountsWhatIsThere) {
  const Workplace place;
  place.write("ratings.csv", kRatings);
  const Finished finished = place.fedhur({"data", "inspect", "ratings.csv", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json facts = json::parse(finished.out);
  EXPECT_EQ(facts.at("users"), 3);
  EXPECT_EQ(facts.at("items"), 3);
  EXPECT_EQ(facts.at("interactions"), 5);
  EXPECT_NEAR(facts.at("density").get<double>(), 5.0 / 9.0, 1e-12);
  EXPECT_EQ(facts.at("interactions_per_user"), json({{"min", 1}, {"median", 2.0}, {"max", 2}}));
  EXPECT_EQ(facts.at("interactions_per_item"), json({{"min", 1}, {"median", 1.0}, {"max", 3}}));
  EXPECT_EQ(facts.at("ratings"), json({{"1", 1}, {"3", 2}, {"4.5", 1}, {"5", 1}}));
  EXPECT_EQ(facts.at("first_timestamp"), 86400);
  EXPECT_EQ(facts.at("last_timestamp"), 200000);
  EXPECT_EQ(facts.at("sha256").get<std::string>().size(), 64U);
  const Finished text = place.fedhur({"data", "inspect", "ratings.csv"});
  EXPECT_THAT(text.out, HasSubstr("1970-01-02 to 1970-01-03"));
  EXPECT_EQ(place.fedhur({"data", "inspect", "synthetic"}).exit_code, 0);
  EXPECT_EQ(place.fedhur({"data", "inspect"}).exit_code, 2);
}

TEST(Data, FiltersApply) {
  const Workplace place;
  place.write("ratings.csv", kRatings);
  const Finished finished =
      place.fedhur({"data", "inspect", "ratings.csv", "--json", "--set", "data.min_rating=4"});
  EXPECT_EQ(json::parse(finished.out).at("interactions"), 2);
}

TEST(Data, ConvertIsLossless) {
  const Workplace place;
  place.write("ratings.csv", kRatings);
  ASSERT_EQ(place.fedhur({"data", "convert", "ratings.csv", "--out", "r.tsv"}).exit_code, 0);
  EXPECT_THAT(place.read("r.tsv"),
              StartsWith("user\titem\trating\ttimestamp\nann\ttea, green\t5\t"));
  const Finished back = place.fedhur({"data", "convert", "r.tsv", "--out", "r.csv", "--json"});
  ASSERT_EQ(back.exit_code, 0) << back.err;
  EXPECT_EQ(json::parse(back.out), json({{"out", "r.csv"}, {"rows", 5}}));
  EXPECT_EQ(place.read("r.csv"), kRatings);
}

TEST(Data, OutputsNeverReplaceInputsAndReplaceFilesOnlyByForce) {
  const Workplace place;
  place.write("ratings.csv", kRatings);
  place.write("other.csv", "precious");
  const auto convert_to = [&](const std::string& out, const Arguments& more = {}) {
    return place.fedhur(Arguments{"data", "convert", "ratings.csv", "--out", out} + more).exit_code;
  };
  EXPECT_EQ(convert_to("./ratings.csv", {"--force"}), 2);
  EXPECT_EQ(convert_to("other.csv"), 2);
  EXPECT_EQ(convert_to("."), 2);
  EXPECT_EQ(convert_to("none/x.csv"), 2);
  EXPECT_EQ(convert_to("x.txt"), 2);
  EXPECT_EQ(place.read("ratings.csv"), kRatings);
  EXPECT_EQ(place.read("other.csv"), "precious");
  EXPECT_EQ(convert_to("other.csv", {"--force"}), 0);
}

TEST(Data, APartitionCanHaveConflictsAndBeWritten) {
  const Workplace place;
  const Arguments few = {"--set", "synthetic.num_users=60", "--set", "clients.count=6"};
  const auto partition = [&](const std::string& out, const Arguments& more) {
    return place.fedhur(Arguments{"data", "partition", "synthetic", "--json", "--out", out} + few +
                        more);
  };
  ASSERT_EQ(
      place.fedhur(Arguments{"data", "split", "synthetic", "--out", "split.tsv"} + few).exit_code,
      0);
  const Finished none =
      partition("none.tsv", {"--set", "conflict.clients=0", "--set", "conflict.groups=3"});
  ASSERT_EQ(none.exit_code, 0) << none.err;
  EXPECT_EQ(place.read("none.tsv"), place.read("split.tsv"));
  EXPECT_FALSE(json::parse(none.out).contains("conflicting_clients"));

  for (const std::string kind : {"permuted", "apart"}) {
    const std::string file = kind + ".tsv";
    const Finished half =
        partition(file, {"--set", "conflict.clients=0.5", "--set", "conflict.kind=" + kind});
    ASSERT_EQ(half.exit_code, 0) << half.err;
    const json facts = json::parse(half.out);
    EXPECT_EQ(facts.at("conflicting_clients").size(), 3U);
    EXPECT_EQ(facts.at("conflicting_items"), 800);
    EXPECT_NE(place.read(file), place.read("split.tsv"));
    const Finished trained = place.fedhur(
        {"train", "--data", file, "--method", "popularity", "--out", kind, "--json", "--quiet"});
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    EXPECT_EQ(json::parse(trained.out).at("clients"), 6);
    const Finished again = place.fedhur(
        Arguments{"train", "--method", "popularity", "--out", kind + "-2", "--json", "--quiet",
                  "--set", "conflict.clients=0.5", "--set", "conflict.kind=" + kind} +
        few);
    EXPECT_EQ(json::parse(trained.out).at("test"), json::parse(again.out).at("test"))
        << "the same with settings as with the file";
  }
}

TEST(Data, ConflictsThatCannotBeAreExplained) {
  const Workplace place;
  for (const std::string assignment :
       {"conflict.clients=x", "conflict.clients=1.5", "conflict.clients=nan",
        "conflict.clients=-0.5", "conflict.groups=0", "conflict.groups=11", "conflict.kind=both",
        "conflict.client=0.5"}) {
    const Finished refused =
        place.fedhur({"data", "partition", "synthetic", "--out", "out.tsv", "--set", assignment});
    EXPECT_EQ(refused.exit_code, 2) << assignment;
    EXPECT_THAT(refused.err, HasSubstr(assignment.substr(0, assignment.find('='))));
    EXPECT_EQ(text_lines_of(refused.err).size(), 1U) << refused.err;
    EXPECT_FALSE(place.has("out.tsv"));
  }
}

TEST(Data, ASplitLoadsAgainWithTheSamePartsAndClients) {
  const Workplace place;
  // Ids that are numbers are kept, others become positions that --split-file finds again.
  const Arguments numbers = {"--set", "clients.count=7", "--set", "split.kind=user", "--seed", "9"};
  ASSERT_EQ(place
                .fedhur({"data", "convert", "synthetic", "--out", "names.csv", "--set",
                         "synthetic.num_users=60"})
                .exit_code,
            0);
  ASSERT_EQ(place.shell("sed -e '2,$s/^u0*//' -e '2,$s/,i0*/,/' names.csv > numbers.csv").exit_code,
            0);
  for (const std::string source : {"names.csv", "numbers.csv"}) {
    const std::string once = source + ".split.tsv";
    ASSERT_EQ(place.fedhur(Arguments{"data", "split", source, "--out", once} + numbers).exit_code,
              0);
    EXPECT_THAT(place.read(once), StartsWith("client\tuser\titem\tsplit\n"));
    const Finished again = place.fedhur({"data", "split", once, "--out", source + ".again.tsv"});
    ASSERT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(place.read(source + ".again.tsv"), place.read(once));
    const Finished over = place.fedhur(
        {"data", "split", source, "--split-file", once, "--out", source + ".over.tsv"});
    ASSERT_EQ(over.exit_code, 0) << over.err;
    EXPECT_EQ(sorted_lines(place.read(source + ".over.tsv")), sorted_lines(place.read(once)));
  }
}

TEST(Data, ASplitOfFilteredRowsStillFitsTheSource) {
  const Workplace place;
  place.write("ratings.csv", kRatings);
  const Arguments one_client = {"--set", "clients.count=1"};
  ASSERT_EQ(place
                .fedhur(Arguments{"data", "split", "ratings.csv", "--out", "split.tsv", "--set",
                                  "data.min_item_interactions=2"} +
                        one_client)
                .exit_code,
            0);
  const Finished finished =
      place.fedhur({"data", "inspect", "ratings.csv", "--split-file", "split.tsv", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(json::parse(finished.out).at("ratings"), json({{"3", 2}, {"4.5", 1}}));
}

TEST(Data, PartitionTellsHowRowsSpreadOverClients) {
  const Workplace place;
  const Finished finished =
      place.fedhur({"data", "partition", "synthetic", "--set", "clients.count=7", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json facts = json::parse(finished.out);
  EXPECT_EQ(facts.at("clients"), 7);
  EXPECT_EQ(facts.at("users_per_client"), json({{"min", 85}, {"median", 85.0}, {"max", 90}}));
  EXPECT_EQ(
      place.fedhur({"data", "partition", "synthetic", "--set", "clients.count=700"}).exit_code, 2);
}

TEST(Data, BadFilesEndWithCodeThree) {
  const Workplace place;
  place.write("empty.csv", "");
  EXPECT_EQ(place.fedhur({"data", "inspect", "empty.csv"}).exit_code, 3);
  EXPECT_EQ(place.fedhur({"data", "inspect", "none.csv"}).exit_code, 3);
  place.write("rows.csv", "user,item\na,x\n,y\n");
  const Finished bad = place.fedhur({"data", "inspect", "rows.csv"});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(bad.err, HasSubstr("rows.csv:3:"));
  const Finished skipped =
      place.fedhur({"data", "inspect", "rows.csv", "--skip-bad-rows", "--json"});
  EXPECT_EQ(json::parse(skipped.out).at("skipped_rows"), 1);
}
}  // namespace
}  // namespace fedhur::tests
