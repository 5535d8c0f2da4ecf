#include "fedhur/study/conflicts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::study::conflicts_test {
namespace {
using experiment::RunState;
using testing::HasSubstr;

const ConflictStudy kStudy = {
    "conflicts",
    "A sentence.",
    {{"no conflict", {"conflict.clients=0.0"}, 0.0, 0.0},
     {"half", {"conflict.clients=0.5", "conflict.groups=10"}, 0.5, 10.0}}};

ReproductionConfig tiny(const std::filesystem::path& folder) {
  return {.data = {{.name = "synthetic", .path = "synthetic"}},
          .seeds = {1, 2},
          .assignments = {"synthetic.num_users=40", "synthetic.num_items=60",
                          "synthetic.num_interactions=900", "clients.count=7", "stop.max_rounds=2"},
          .parallel = 2,
          .folder = folder};
}

std::size_t method_named(const std::string& label) {
  const auto& methods = conflict_methods();
  const auto found = std::ranges::find_if(
      methods, [&](const ConflictMethod& method) { return method.row.label == label; });
  EXPECT_NE(found, methods.end()) << label;
  return static_cast<std::size_t>(found - methods.begin());
}

TEST(ConflictStudies, ConsistOfRunsThatCanBeMadeAndAreAllDifferent) {
  for (const ConflictStudy& study : conflict_studies()) {
    ReproductionConfig config = tiny("nowhere");
    config.assignments = {"stop.max_rounds=2"};
    const PaperTable table = runs_of(study);
    EXPECT_EQ(table.rows.size(), study.scenes.size() * conflict_methods().size());
    std::set<std::filesystem::path> folders;
    for (const Cell& cell : plan_cells(table, config)) folders.insert(cell.run.folder);
    EXPECT_EQ(folders.size(), table.rows.size() * 2) << study.name;
    EXPECT_EQ(find_conflict_study(study.name), &study);
  }
  EXPECT_EQ(find_conflict_study("overall"), nullptr);
}

TEST(ConflictStudies, CompareEachFedHurWithItsOwnControl) {
  for (const ConflictMethod& method : conflict_methods()) {
    if (!method.row.is_proposal) continue;
    ASSERT_TRUE(method.control);
    std::vector<std::string> expected = method.row.assignments;
    std::ranges::replace(expected, "relation.kind=utility", "relation.kind=common");
    EXPECT_EQ(conflict_methods()[*method.control].row.assignments, expected);
  }
}

TEST(ConflictStudies, GoFromNoConflictToOneOverAllGroups) {
  const ConflictStudy* study = find_conflict_study("conflicts");
  std::set<double> shares;
  std::set<double> groups;
  for (const ConflictScene& scene : study->scenes) {
    if (scene.share) shares.insert(*scene.share);
    if (scene.groups) groups.insert(*scene.groups);
  }
  EXPECT_EQ(shares, (std::set<double>{0.0, 0.1, 0.25, 0.5}));
  EXPECT_EQ(groups, (std::set<double>{0.0, 1.0, 3.0, 6.0, 10.0}));
}

TEST(WeightShares, AreThoseOfTheOwnKindAmongTheOthers) {
  // Clients 0 and 1 are of one kind, 2 of another. In equal shares of 3.
  report::Relations relations;
  relations.levels.push_back(
      {.own = 1.5, .counts = {}, .weights = {{1.5, 0.9, 0.6}, {0.3, 1.5, 1.2}, {1.0, 0.5, 1.5}}});
  const auto shares = weight_shares(relations, {false, false, true});
  ASSERT_TRUE(shares);
  EXPECT_NEAR(shares->own_kind.at(0), (0.6 + 0.2 + 0.0) / 3.0, 1e-12);
  EXPECT_NEAR(shares->itself.at(0), 0.5, 1e-12);
  EXPECT_NEAR(shares->own_kind_if_equal, (0.5 + 0.5 + 0.0) / 3.0, 1e-12);
  EXPECT_FALSE(weight_shares(relations, {false, false, false}));
  EXPECT_FALSE(weight_shares(relations, {}));
  EXPECT_FALSE(weight_shares(relations, {false, true})) << "weights of blocks";
}

Cell cell(std::size_t row, std::uint64_t seed, double ndcg) {
  Cell made{.row = row, .data = 0, .seed = seed, .run = {}, .outcome = {}};
  made.run.settings.set("method", std::string("fedmf"), "a test");
  made.run.folder = "nowhere";
  made.outcome.state = RunState::interrupted;
  made.outcome.result.test = {{"ndcg@10", ndcg}};
  return made;
}

TEST(ConflictSummary, HasLinesWithoutRunsToo) {
  const ConflictSummary summary = summarize(kStudy, tiny("nowhere"), {cell(0, 1, 0.5)});
  EXPECT_EQ(summary.lines.size(), 2 * conflict_methods().size());
  EXPECT_TRUE(summary.lines.front().ndcg.empty());
  EXPECT_FALSE(summary.lines.back().against_fedcia);
  EXPECT_TRUE(draw_conflicts(summary, report::FigureFormat::svg).empty());
  EXPECT_THAT(to_markdown(summary, {}), HasSubstr("| FedMF | - | - | - | - | - | 0 |"));
}

class ConflictRuns : public testing::Test {
 protected:
  ConflictSummary run(const std::function<bool()>& should_stop = {}) {
    const PaperTable table = runs_of(kStudy);
    auto cells = plan_cells(table, config_);
    run_cells(cells, table, config_, {}, should_stop);
    return summarize(kStudy, config_, cells);
  }

  tests::TempFolder folder_;
  ReproductionConfig config_ = tiny(folder_ / "out");
};

TEST_F(ConflictRuns, GoOnWhereTheyStopped) {
  config_.parallel = 1;
  int asked = 0;
  const ConflictSummary part = run([&] { return ++asked > 20; });
  EXPECT_TRUE(part.lines.back().seeds.size() < 2);
  const ConflictSummary whole = run();
  const auto times_of_results = [&] {
    std::vector<std::filesystem::file_time_type> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(config_.folder)) {
      if (entry.path().filename() == "result.json") found.push_back(entry.last_write_time());
    }
    std::ranges::sort(found);
    return found;
  };
  const auto before = times_of_results();
  EXPECT_EQ(before.size(), 4 * conflict_methods().size());
  EXPECT_EQ(to_json(run(), {}), to_json(whole, {}));
  EXPECT_EQ(times_of_results(), before) << "no run is made twice";

  const tests::TempFolder elsewhere;
  config_.folder = elsewhere / "out";
  config_.parallel = 2;
  EXPECT_EQ(to_json(run(), {}), to_json(whole, {}));
}

TEST_F(ConflictRuns, TellOfQualityTestsAndWeights) {
  const ConflictSummary summary = run();
  const std::size_t num_methods = conflict_methods().size();
  const std::size_t fedhur = method_named("FedHUR, hierarchical, tau 1.0");
  const std::size_t common = method_named("common, hierarchical, tau 1.0");
  const ConflictLine& without = summary.lines[fedhur];
  const ConflictLine& with = summary.lines[num_methods + fedhur];
  EXPECT_EQ(with.seeds, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_NE(with.ndcg, without.ndcg);
  EXPECT_FALSE(without.weights) << "nobody is told apart";
  ASSERT_TRUE(with.weights);
  EXPECT_EQ(with.weights->own_kind.size(), with.weights->itself.size());
  EXPECT_NEAR(with.weights->own_kind_if_equal, (4.0 * 3.0 + 3.0 * 2.0) / 42.0, 1e-12);
  ASSERT_TRUE(with.against_control);
  const ConflictLine& control = summary.lines[num_methods + common];
  EXPECT_NEAR(with.against_control->difference,
              (with.ndcg[0] - control.ndcg[0] + with.ndcg[1] - control.ndcg[1]) / 2.0, 1e-12);
  EXPECT_FALSE(control.against_control);
  EXPECT_FALSE(summary.lines[method_named("FedCIA")].against_fedcia);

  const std::string markdown = to_markdown(summary, {"a note"});
  EXPECT_THAT(markdown, HasSubstr("## synthetic, half\n"));
  EXPECT_THAT(markdown, HasSubstr("* a note\n"));
  const std::string csv = to_csv(summary);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + static_cast<std::ptrdiff_t>(summary.lines.size()));
  const auto json = nlohmann::json::parse(to_json(summary, {}));
  EXPECT_EQ(json["lines"][num_methods + fedhur]["ndcg@10"].get<std::vector<double>>(), with.ndcg);
  EXPECT_TRUE(json["lines"][fedhur]["weights"].is_null());

  const auto figures = draw_conflicts(summary, report::FigureFormat::svg);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].name, "conflicts-synthetic");
  EXPECT_THAT(figures[0].script, HasSubstr("$panel0_0 << EOD\n0 "));
}
}  // namespace
}  // namespace fedhur::study::conflicts_test
