#include "fedhur/study/correlation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/study/correlation_table.hpp"
#include "tests/support/support.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::study::correlation_test {
namespace {
using testing::Each;
using testing::HasSubstr;
using tests::TempFolder;

ConfigTable tiny(const std::vector<std::string>& assignments = {}) {
  ConfigTable table = tests::tiny_settings("fedhur");
  for (const auto& assignment : assignments) experiment::add_assignment(table, assignment);
  return table;
}

TEST(Correlation, HasOneNumberPerTargetForEachRelationAndPart) {
  const auto all = correlate(tiny(), 1, {});
  ASSERT_EQ(all.size(), 24U);  // two relations, three parts, four metrics
  EXPECT_EQ(all[0].relation, "similarity");
  EXPECT_EQ(all[0].metric, "recall@10");
  EXPECT_EQ(all[23].relation, "utility");
  EXPECT_EQ(all[23].part, "test");
  EXPECT_EQ(all[23].metric, "ndcg");
  bool varies = false;
  for (const CorrelationOf& one : all) {
    EXPECT_EQ(one.pearson.size(), one.spearman.size());
    EXPECT_LE(one.pearson.size(), 7U);
    for (const double value : one.pearson) varies = varies || value != 0.0;
    EXPECT_LE(std::abs(one.candidate_pearson), 1.0);
    EXPECT_LE(std::abs(one.candidate_spearman), 1.0);
    EXPECT_THAT(one.pearson, Each(testing::AllOf(testing::Ge(-1.0), testing::Le(1.0))));
  }
  EXPECT_EQ(all[0].pearson.size(), 7U);  // all clients have training rows
  EXPECT_TRUE(varies);
}

TEST(Correlation, IsTheSameForAnyNumberOfThreads) {
  const auto one = correlate(tiny({"threads=1"}), 1, {});
  const auto three = correlate(tiny({"threads=3"}), 1, {});
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].pearson, three[i].pearson);
    EXPECT_EQ(one[i].spearman, three[i].spearman);
    EXPECT_EQ(one[i].candidate_pearson, three[i].candidate_pearson);
  }
}

TEST(Correlation, IsZeroWhereNoCandidateChangesAnything) {
  for (const CorrelationOf& one : correlate(tiny({"hierarchy.level_weights=[0.0]"}), 1, {})) {
    EXPECT_THAT(one.pearson, Each(0.0)) << one.relation << " " << one.part << " " << one.metric;
    EXPECT_EQ(one.candidate_pearson, 0.0);
  }
}

CorrelationOf of(const std::string& relation, const std::vector<double>& values,
                 const std::string& metric = "ndcg@10") {
  return {.relation = relation,
          .part = "test",
          .metric = metric,
          .pearson = values,
          .spearman = values,
          .candidate_pearson = 0.75,
          .candidate_spearman = -0.25};
}

TEST(CorrelationLines, AreMeansOverTargetsOfEverySeed) {
  const std::vector<CorrelationCell> cells = {
      {.data = 0, .seed = 1, .correlations = {of("utility", {0.2, 0.4}), of("similarity", {0.1})}},
      {.data = 0, .seed = 2, .correlations = {of("utility", {0.5})}},
      {.data = 1, .seed = 1, .correlations = {of("utility", {-0.5})}},
      {.data = 1, .seed = 2, .correlations = {}}};
  const auto lines = lines_of(cells, Reading::targets);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].relation, "utility");
  ASSERT_EQ(lines[0].pearson.size(), 2U);
  EXPECT_NEAR(lines[0].pearson[0], 0.3, 1e-12);
  EXPECT_EQ(format_correlation(lines[0].spearman), "+0.400 ± 0.141");
  EXPECT_EQ(lines[2].data, 1U);
  EXPECT_EQ(format_correlation(lines[2].pearson), "-0.500");
  const auto of_candidates = lines_of(cells, Reading::candidates);
  ASSERT_EQ(of_candidates.size(), 3U);
  EXPECT_EQ(of_candidates[0].pearson, (std::vector<double>{0.75, 0.75}));
  EXPECT_EQ(of_candidates[0].spearman, (std::vector<double>{-0.25, -0.25}));
}

TEST(CorrelationLines, HaveBothRelationsAndThePapersNumbersInARow) {
  const ReproductionConfig config = {.data = {{.name = "ml-100k", .path = "u.data"}},
                                     .seeds = {1},
                                     .assignments = {},
                                     .parallel = 1,
                                     .folder = {}};
  const std::vector<CorrelationCell> cells = {
      {.data = 0,
       .seed = 1,
       .correlations = {of("similarity", {0.2}), of("similarity", {0.3}, "ndcg"),
                        of("utility", {0.4}), of("utility", {0.5}, "ndcg")}}};
  const std::string text = to_markdown(cells, config, {});
  EXPECT_THAT(text, HasSubstr("| test | NDCG@10 | +0.200 | +0.400 | -0.3248, +0.3224 | +0.200 | "
                              "+0.400 | -0.3469, +0.3376 |\n"));
  EXPECT_THAT(text, HasSubstr("| test | NDCG, whole ranking | +0.300 | +0.500 | - | "));
  EXPECT_THAT(text, HasSubstr("| test | NDCG@10 | +0.750 | +0.750 | -0.3248, +0.3224 | -0.250 | "));
  EXPECT_THAT(to_csv(cells, config),
              HasSubstr("ml-100k,candidates,utility,test,ndcg@10,0.75,-0.25,1,0.3224,0.3376\n"));
}

TEST(Correlation, IsComputedOnceAndLeavesNothingWhenStopped) {
  const TempFolder folder;
  const ReproductionConfig config = {
      .data = {{.name = "synthetic", .path = "synthetic"}},
      .seeds = {1, 2},
      .assignments = {"synthetic.num_users=40", "synthetic.num_items=60",
                      "synthetic.num_interactions=900", "clients.count=5", "model.embedding_dim=6"},
      .parallel = 1,
      .folder = folder / "out"};
  int asked = 0;
  const auto stopped = run_correlations(config, 1, {}, [&] { return ++asked > 2; });
  EXPECT_TRUE(stopped[0].correlations.empty());
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));

  int ended = 0;
  const auto count = [&](const CorrelationCell&) { ++ended; };
  const auto cells = run_correlations(config, 1, count, {});
  EXPECT_EQ(ended, 2);
  asked = 0;
  const auto again = run_correlations(config, 1, count, [&] { return ++asked > 0; });
  EXPECT_EQ(asked, 0);  // nothing is left to be stopped
  EXPECT_EQ(to_json(again, config, {}), to_json(cells, config, {}));
  EXPECT_THAT(to_markdown(cells, config, {"a note"}), HasSubstr("| test | NDCG@10 | "));
  EXPECT_THAT(to_csv(cells, config), HasSubstr("synthetic,targets,similarity,train,recall@10,"));

  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "out")) {
    if (entry.is_regular_file()) std::ofstream(entry.path()) << "[{\"relation\": 7}]";
  }
  EXPECT_THROW((void)run_correlations(config, 1, {}, {}), DataError);
}
}  // namespace
}  // namespace fedhur::study::correlation_test
