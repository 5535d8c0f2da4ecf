// inside.json of whole tiny runs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fedhur/base/file.hpp"
#include "tests/support/support.hpp"
#include "tests/support/temp_folder.hpp"

namespace fedhur::experiment {
namespace {
using nlohmann::json;

json inside_of(const std::string& method, const std::vector<std::string>& assignments = {}) {
  const tests::TempFolder folder;
  ConfigTable table = tests::tiny_settings(method);
  for (const std::string& assignment : assignments) add_assignment(table, assignment);
  const TrainingOutcome outcome = tests::train_tiny(folder / "run", table);
  json inside = json::parse(read_text_file(folder / "run" / "inside.json"));
  EXPECT_EQ(inside.at("round"), outcome.result.best_round);
  // The bins together are all there is.
  double users = 0.0;
  double recall = 0.0;
  for (const json& bin : inside.at("activity")) {
    users += bin.at("users").get<double>();
    recall += bin.at("users").get<double>() * bin.at("recall").get<double>();
  }
  EXPECT_NEAR(recall / users, outcome.result.test.at("recall@10"), 1e-9);
  int items = 0;
  for (const json& bin : inside.at("popularity")) items += bin.at("items").get<int>();
  EXPECT_EQ(items, 60);
  return inside;
}

TEST(Inside, OfFedHurHasGroupsAndRelationsByLevel) {
  const json inside = inside_of("fedhur", {"hierarchy.branching=[3, 2, \"items\"]"});
  const json& levels = inside.at("relations").at("levels");
  ASSERT_EQ(levels.size(), 3U);
  for (const json& level : levels) {
    ASSERT_EQ(level.at("weights").size(), 7U);
    for (const json& row : level.at("weights")) {
      double sum = 0.0;
      for (const json& weight : row) sum += weight.get<double>();
      EXPECT_NEAR(sum, 7.0, 0.05) << "in equal shares, with three digits each";
    }
  }
  const json& hierarchy = inside.at("hierarchy");
  EXPECT_EQ(hierarchy.at("items"), 60);
  EXPECT_EQ(hierarchy.at("groups").size(), 3U);
  EXPECT_EQ(hierarchy.at("groups")[0].at("groups").size(), 2U);
}

TEST(Inside, OfFedSlimHasNeighborsOfItems) {
  const json inside = inside_of("fedslim");
  const json& items = inside.at("neighbors");
  ASSERT_GT(items.size(), 10U);
  for (const json& item : items) {
    double before = 1e9;
    EXPECT_GE(item.at(3).size(), 1U);
    for (const json& neighbor : item.at(3)) {
      EXPECT_NE(neighbor.at(0), item.at(0)) << "an item is no neighbour of its own";
      const double weight = neighbor.at(2);
      EXPECT_TRUE(weight > 0.0 && weight <= before);
      before = weight;
    }
  }
  EXPECT_FALSE(inside_of("fedslim", {"filter.neighbors=0"}).at("neighbors").empty());
}

TEST(Inside, HasOnlyWhatTheMethodHas) {
  EXPECT_FALSE(inside_of("fedmf").contains("relations"));
  EXPECT_FALSE(inside_of("fedmf").contains("neighbors"));
  EXPECT_FALSE(inside_of("fedcia").contains("hierarchy"));
  EXPECT_FALSE(inside_of("fedhur", {"relation.kind=none"}).contains("relations"));
  const json single = inside_of("fedhur", {"relation.structure=single"});
  EXPECT_EQ(single.at("relations").at("levels").size(), 1U);
  EXPECT_FALSE(single.contains("hierarchy"));
  for (const std::string method : {"fedca", "gpfedrec"}) {
    const json inside = inside_of(method);
    EXPECT_EQ(inside.at("relations").at("levels").size(), 1U) << method;
    EXPECT_FALSE(inside.contains("hierarchy"));
  }
  EXPECT_FALSE(inside_of("fedca", {"aggregation.participation=0.5"}).contains("relations"));
}
}  // namespace
}  // namespace fedhur::experiment
