#include <gmock/gmock.h>

#include "process.hpp"

namespace fedhur::tests {
namespace {
using ::testing::HasSubstr;

const Arguments kQuick = {
    "--out", "out",   "--seeds",         "2",     "--rounds",
    "2",     "--set", "clients.count=5", "--set", "synthetic.num_interactions=3000"};

TEST(Reproduce, WritesATableAndKeepsItsRuns) {
  const Workplace place;
  const Finished first = place.fedhur(Arguments{"reproduce", "table", "query"} + kQuick);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("| H - (HF + FH)/2 |"));
  EXPECT_THAT(first.err, HasSubstr("[8/8] query synthetic: "));
  EXPECT_EQ(place.read("out/query.md") + "\n", first.out);
  EXPECT_THAT(place.read("out/query.csv"), HasSubstr("query,synthetic,\"H\",ndcg@10,"));
  const Finished second =
      place.fedhur(Arguments{"reproduce", "table", "query", "--json", "--quiet"} + kQuick);
  EXPECT_EQ(second.err, "");
  EXPECT_EQ(second.out, place.read("out/query.json"));
  EXPECT_EQ(nlohmann::json::parse(second.out)["data"][0]["rows"][3]["seeds"].size(), 2U);
}

TEST(Reproduce, StopsInTimeAndGoesOn) {
  const Workplace place;
  const Finished stopped =
      place.fedhur(Arguments{"reproduce", "table", "query", "--minutes", "1e-9"} + kQuick);
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("the same command goes on"));
  EXPECT_THAT(place.read("out/query.md"), HasSubstr("not finished: 8 of 8 runs are missing"));
}

TEST(Reproduce, ExplainsMistakes) {
  const Workplace place;
  const auto expect_problem = [&](const Arguments& arguments, int code, const std::string& part) {
    const Finished finished = place.fedhur(Arguments{"reproduce"} + arguments);
    EXPECT_EQ(finished.exit_code, code) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(part));
    EXPECT_FALSE(place.has("reproduction"));
  };
  expect_problem({}, 2, "expected table, figure or all");
  expect_problem({"tabel", "query"}, 2, "expected table, figure or all");
  expect_problem({"table"}, 2, "the name of a table is missing");
  expect_problem({"table", "quer"}, 2, "did you mean 'query'?");
  expect_problem({"all", "query"}, 2, "'all' stands alone");
  expect_problem({"table", "query", "--seeds", "0"}, 2, "--seeds 0");
  expect_problem({"table", "query", "--seeds", "1,1"}, 2, "a seed is there twice");
  expect_problem({"table", "query", "--minutes", "-1"}, 2, "--minutes -1");
  expect_problem({"table", "query", "--set", "stop.max_round=1"}, 2, "stop.max_rounds");
  expect_problem({"table", "query", "--data", "nothing.csv"}, 3, "nothing.csv");
  expect_problem({"table", "query", "--data", "synthetic", "--data", "synthetic"}, 2,
                 "both called synthetic");
}
}  // namespace
}  // namespace fedhur::tests
