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
  EXPECT_FALSE(data.rows[2].test->is_decided());
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

TEST(Summary, OfOneSeedHasADifferenceAndNoTest) {
  const Summary summary = summarize(kTable, ml100k(), {cell(1, 1, 0.30), cell(2, 1, 0.31)});
  EXPECT_THAT(to_markdown(summary, {}), HasSubstr("| +0.0100 (t -, p -) | 1 |"));
  EXPECT_THAT(to_csv(summary), HasSubstr(",0.010000000000000009,,\n"));
  const auto test = nlohmann::json::parse(to_json(summary, {}))["data"][0]["rows"][2]["test"];
  EXPECT_TRUE(test.contains("difference"));
  EXPECT_FALSE(test.contains("t") || test.contains("p"));
}

TEST(Summary, SaysOfASmallProbabilityThatItIsBelowAThousandth) {
  std::vector<Cell> cells;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const double luck = 0.001 * static_cast<double>(seed);
    cells.push_back(cell(1, seed, 0.30 + luck));
    cells.push_back(cell(2, seed, 0.35 + 1.01 * luck));
  }
  EXPECT_THAT(to_markdown(summarize(kTable, ml100k(), cells), {}), HasSubstr(", p < .001) |"));
}

TEST(Summary, TellsWhichDataThePaperHad) {
  EXPECT_THAT(to_markdown(small_summary(), {}),
              HasSubstr("\n* the paper's data: 943 users, 1,682 items, 100,000 interactions\n"));
  ReproductionConfig beauty = ml100k();
  beauty.data.front().name = "beauty";
  EXPECT_THAT(to_markdown(summarize(kTable, beauty, {}), {}),
              HasSubstr("5,083 users, 11,479 items, 90,952 interactions; how they were selected"));
  ReproductionConfig other = ml100k();
  other.data.front().name = "shop";
  EXPECT_THAT(to_markdown(summarize(kTable, other, {}), {}),
              testing::Not(HasSubstr("the paper's data")));
}

TEST(Published, HasEveryCellOfThePapersTables) {
  for (const PaperTable& table : paper_tables()) {
    for (const Row& row : table.rows) {
      for (const char* data : {"ml-100k", "ml-1m", "book", "bx", "beauty"}) {
        const bool is_there =
            (table.name == "overall" && row.method != "popularity" && row.method != "fedslim") ||
            (std::string(data) == "ml-100k" &&
             ((table.name == "relations" && row.label.find("common") == std::string::npos) ||
              table.name == "query" || (table.name == "scorer" && row.label != "no scorer")));
        for (const char* metric : {"recall@10", "mrr@10", "ndcg@10"}) {
          const bool is_slip = row.label == "FedRAP" && std::string(data) == "ml-100k" &&
                               std::string(metric) == "mrr@10";
          EXPECT_EQ(published(table.name, row.label, data, metric).has_value(),
                    is_there && !is_slip)
              << table.name << " " << row.label << " " << data << " " << metric;
        }
      }
    }
  }
  EXPECT_EQ(published("overall", "FedNCF", "book", "mrr@10"), .1333);
  EXPECT_EQ(published("overall", "FedCA", "beauty", "ndcg@10"), .0407);
  EXPECT_EQ(published("relations", "single both", "ml-100k", "mrr@10"), .5902);
  EXPECT_EQ(published("relations", "hierarchical similarity", "ml-100k", "ndcg@10"), .3582);
  EXPECT_EQ(published("query", "H - FH", "ml-100k", "recall@10"), .1919);
  EXPECT_EQ(published("scorer", "nu, s", "ml-100k", "ndcg@10"), .3523);
  EXPECT_EQ(published("efficiency", "FedCIA", "ml-100k", "round_seconds"), 20.10);
  EXPECT_EQ(published_correlation("ml-100k", "utility", "valid", "mrr@10")->spearman, .3030);
  EXPECT_EQ(published_correlation("ml-100k", "similarity", "train", "recall@10")->pearson, -.1125);
  EXPECT_FALSE(published_correlation("book", "utility", "valid", "mrr@10"));
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
  EXPECT_THAT(to_markdown(summary, {}),
              HasSubstr("| 0.920 / 1.160 / 29.060 / 11.660 / - / 700.0 |"));
}
}  // namespace
}  // namespace fedhur::study
