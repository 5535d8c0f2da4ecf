#include "fedhur/study/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fedhur::study {
namespace {
using experiment::RunState;
using testing::HasSubstr;

const PaperTable kTable = {
    "overall",
    "A table.",
    {{"FedMF", "fedmf"}, {"FedCIA", "fedcia"}, {"FedHUR", "fedhur", {}, true}}};

Cell cell(std::size_t row, std::uint64_t seed, double ndcg) {
  Cell made{.row = row, .data = 0, .seed = seed, .run = {}, .outcome = {}};
  made.outcome.state = RunState::finished;
  made.outcome.result.test = {{"recall@10", 0.2}, {"mrr@10", 0.5}, {"ndcg@10", ndcg}};
  made.outcome.result.best_round = 7;
  return made;
}

ReproductionConfig ml100k() {
  return {.data = {{.name = "ml-100k", .path = "u.data"}},
          .seeds = {1, 2, 3},
          .assignments = {},
          .parallel = 1,
          .folder = {}};
}

Summary small_summary() {
  std::vector<Cell> cells = {cell(0, 1, 0.30), cell(1, 1, 0.32), cell(2, 1, 0.33),
                             cell(0, 2, 0.31), cell(1, 2, 0.33), cell(2, 2, 0.35),
                             cell(0, 3, 0.32), cell(1, 3, 0.34), cell(2, 3, 0.35)};
  return summarize(kTable, ml100k(), cells);
}

TEST(Summary, ComparesEveryRowWithTheBestRival) {
  const Summary summary = small_summary();
  const auto& rows = summary.data.front().rows;
  EXPECT_FALSE(rows[0].is_best_rival);
  EXPECT_TRUE(rows[1].is_best_rival);
  EXPECT_FALSE(rows[1].test);
  EXPECT_FALSE(rows[2].is_best_rival);  // the best of all, but the proposal
  ASSERT_TRUE(rows[2].test);
  EXPECT_NEAR(rows[2].test->difference, 0.04 / 3.0, 1e-12);
  EXPECT_NEAR(rows[2].test->t, 4.0, 1e-9);  // differences .01, .02, .01
  EXPECT_NEAR(rows[2].test->p, 0.05719095841793663, 1e-9);
}

TEST(Summary, PairsOnlySeedsThatBothRowsHave) {
  std::vector<Cell> cells = {cell(0, 1, 0.1),  cell(0, 2, 0.1),  cell(0, 3, 0.1),
                             cell(1, 1, 0.30), cell(1, 3, 0.40), cell(2, 3, 0.45)};
  cells[1].outcome = {.state = RunState::failed, .result = {}, .problem = "diverged"};
  const DataSummary data = summarize(kTable, ml100k(), cells).data.front();
  EXPECT_EQ(data.rows[0].seeds, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_NEAR(data.rows[2].test->difference, 0.05, 1e-12);
  EXPECT_EQ(data.rows[2].test->p, 1.0);
  EXPECT_THAT(data.problems, testing::ElementsAre("FedMF, seed 2: diverged"));
}

TEST(Summary, IsMarkdownWithThePublishedNumbersBesideOurs) {
  const std::string text = to_markdown(small_summary(), {"three seeds"});
  EXPECT_THAT(text, HasSubstr("* three seeds\n"));
  EXPECT_THAT(text, HasSubstr("## ml-100k\n"));
  EXPECT_THAT(text,
              HasSubstr("| FedCIA | 0.2000 ± 0.0000 | 0.5000 ± 0.0000 | 0.3300 ± 0.0100 | 7 ± 0 | "
                        "0.1903 / 0.5855 / 0.3440 | (best rival) | 3 |"));
  EXPECT_THAT(text, HasSubstr("+0.0133 (t 4.0, p 0.057)"));
  const Summary empty = summarize(kTable, ml100k(), {});
  EXPECT_THAT(to_markdown(empty, {}), HasSubstr("| FedHUR | - | - | - | - |"));
}

TEST(Summary, IsCsvAndJsonWithTheSameNumbers) {
  const Summary summary = small_summary();
  EXPECT_THAT(to_csv(summary), HasSubstr("overall,ml-100k,\"FedCIA\",ndcg@10,0.33,0.01"));
  const auto json = nlohmann::json::parse(to_json(summary, {}));
  const auto& row = json["data"][0]["rows"][2];
  EXPECT_EQ(row["row"], "FedHUR");
  EXPECT_EQ(row["values"]["ndcg@10"], (std::vector<double>{0.33, 0.35, 0.35}));
  EXPECT_NEAR(row["test"]["t"].get<double>(), 4.0, 1e-9);
  EXPECT_EQ(row["published"]["ndcg@10"], 0.3693);
}

TEST(Summary, OfEfficiencyCountsBytesAndSeconds) {
  const PaperTable table = {"efficiency", "Costs.", {{"FedHUR", "fedhur", {}, true}}, true};
  Cell made = cell(0, 1, 0.3);
  made.outcome.result.num_rounds = 4;
  made.outcome.result.bytes_up = 1024.0 * 1024.0;
  made.outcome.result.seconds = {{"total", 8.0}, {"fine_tuning", 2.0}};
  const Summary summary = summarize(table, ml100k(), {made});
  const auto& values = summary.data.front().rows.front().values;
  EXPECT_EQ(values.at("mib_up").front(), 1.0);
  EXPECT_EQ(values.at("round_seconds").front(), 2.0);
  EXPECT_EQ(values.at("fine_tuning_seconds").front(), 0.5);
  EXPECT_THAT(to_markdown(summary, {}), HasSubstr("| 0.920 / 1.160 / - / - / - / 700.0 |"));
}
}  // namespace
}  // namespace fedhur::study
