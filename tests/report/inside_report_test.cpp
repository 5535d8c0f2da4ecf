#include "fedhur/report/inside_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fedhur/evaluate/breakdown.hpp"
#include "fedhur/server/relation_summary.hpp"
#include "tests/support/support.hpp"

namespace fedhur::report {
namespace {
using nlohmann::json;

data::Dataset named_items(Index count) {
  data::Dataset dataset;
  for (Index item = 0; item < count; ++item) {
    dataset.item_names.push_back("i" + std::to_string(item));
    dataset.item_titles.push_back("title " + std::to_string(item));
  }
  return dataset;
}

NamedArrays quality_of(const std::vector<Index>& train_counts) {
  const evaluate::ItemBins bins = evaluate::bin_items(train_counts);
  evaluate::Breakdown breakdown(2);
  breakdown.add(3, tests::items({0, 1}), tests::items({1}), bins);
  breakdown.add(5000, tests::items({1, 2}), tests::items({0}), bins);
  NamedArrays arrays;
  arrays.set("test_by_activity", breakdown.by_activity());
  arrays.set("test_by_popularity", breakdown.by_popularity());
  return arrays;
}

json parse(const NamedArrays& arrays, const data::Dataset& dataset,
           const std::vector<Index>& train_counts, Index num_clients = 4) {
  const std::string text = to_json(look_inside({.round = 6,
                                                .num_clients = num_clients,
                                                .cutoff = 2,
                                                .arrays = arrays,
                                                .dataset = dataset,
                                                .train_counts = train_counts}));
  EXPECT_EQ(to_json(inside_from_json(text)), text) << "nothing is lost when it is read back";
  return json::parse(text);
}

TEST(InsideReport, HasTheQualityOfEveryMethod) {
  const std::vector<Index> counts = {9, 5, 1};
  const json inside = parse(quality_of(counts), named_items(3), counts);
  EXPECT_EQ(inside.at("round"), 7) << "people count from 1";
  EXPECT_EQ(inside.at("cutoff"), 2);
  ASSERT_EQ(inside.at("activity").size(), 2U) << "empty bins are left out";
  EXPECT_EQ(inside.at("activity")[0].at("from"), 2);
  EXPECT_EQ(inside.at("activity")[0].at("to"), 3);
  EXPECT_EQ(inside.at("activity")[0].at("recall"), 1.0);
  EXPECT_TRUE(inside.at("activity")[1].at("to").is_null()) << "the last bin has no end";
  ASSERT_EQ(inside.at("popularity").size(), 3U);
  EXPECT_EQ(inside.at("popularity")[0].at("bin"), "head");
  EXPECT_EQ(inside.at("popularity")[0].at("training_rows"), 9);
  EXPECT_EQ(inside.at("popularity")[0].at("test_rows"), 1);
  EXPECT_FALSE(inside.contains("relations"));
  EXPECT_FALSE(inside.contains("hierarchy"));
}

TEST(InsideReport, WritesWeightsInEqualSharesByLevel) {
  const std::vector<Index> counts = {9, 5, 1};
  NamedArrays arrays = quality_of(counts);
  MatrixOf<double> weights = MatrixOf<double>::Constant(4, 4, 0.25);
  weights.row(1) << 0.7, 0.1, 0.123456, 0.076544;
  std::vector<server::WeightSummary> scopes(2, server::summarize_weights(weights));
  scopes[0].common = 1.0;  // of the coarse level
  server::put_summaries(arrays, scopes, std::vector<Index>{0, 1});
  const json relations = parse(arrays, named_items(3), counts).at("relations");
  EXPECT_EQ(relations.at("clients_per_block"), 1);
  ASSERT_EQ(relations.at("levels").size(), 2U);
  const json& level = relations.at("levels")[1];
  EXPECT_EQ(level.at("weights")[0], json({1.0, 1.0, 1.0, 1.0}));
  EXPECT_EQ(level.at("weights")[1], json({2.8, 0.4, 0.494, 0.306})) << "three digits";
  EXPECT_EQ(level.at("counts").size(), relations.at("bins_from").size());
  EXPECT_EQ(level.at("counts")[17], 9) << "the equal shares among others, at 1";
  EXPECT_EQ(relations.at("bins_from")[17], 1.0);
  EXPECT_EQ(relations.at("levels")[0].at("common"), 1.0);
  // Of four rows one differs: the mean row explains a quarter.
  EXPECT_EQ(level.at("common"), 0.25);
}

TEST(InsideReport, OfAnOlderRunTellsNothingOfWhatIsCommon) {
  const std::string older =
      R"({"round":7,"cutoff":2,"activity":[],"popularity":[],"relations":{"clients_per_block":1,)"
      R"("bins_from":[0.0],"levels":[{"own":1.0,"counts":[0],"weights":[[1.0]]}]}})";
  const Inside inside = inside_from_json(older);
  EXPECT_FALSE(inside.relations->levels[0].common.has_value());
  EXPECT_EQ(to_json(inside), older);
}

MatrixOf<std::int32_t> two_levels() {
  MatrixOf<std::int32_t> groups(5, 2);
  groups << 0, 0,  //
      1, 0,        //
      0, 1,        //
      1, 0,        //
      0, 1;
  return groups;
}

TEST(InsideReport, NestsItemGroupsWithTheMostPopularFirst) {
  const std::vector<Index> counts = {3, 1, 4, 1, 5};
  NamedArrays arrays = quality_of(counts);
  arrays.set("item_groups", two_levels());
  const json root = parse(arrays, named_items(5), counts).at("hierarchy");
  EXPECT_EQ(root.at("items"), 5);
  EXPECT_EQ(root.at("training_rows"), 14);
  ASSERT_EQ(root.at("groups").size(), 2U);
  EXPECT_EQ(root.at("groups")[1].at("training_rows"), 2);
  const json& leaf = root.at("groups")[0].at("groups")[1];
  EXPECT_EQ(leaf.at("items"), 2);
  EXPECT_EQ(leaf.at("popular"), json({{"i4", "title 4", 5}, {"i2", "title 2", 4}}));
}

TEST(InsideReport, HasTheNeighborsOfPopularItemsAndOfOthersByRank) {
  constexpr Index kItems = 1000;
  std::vector<Index> counts(kItems);
  MatrixOf<std::int32_t> nearest = MatrixOf<std::int32_t>::Constant(kItems, 2, -1);
  Matrix weights = Matrix::Zero(kItems, 2);
  for (Index item = 0; item < kItems; ++item) {
    counts[static_cast<std::size_t>(item)] = item;
    if (item >= 990) continue;  // the ten most popular have no neighbours
    nearest(item, 0) = static_cast<std::int32_t>(item + 1);
    weights(item, 0) = 0.123456F;
  }
  nearest(989, 1) = 7;
  weights(989, 1) = 0.01F;
  NamedArrays arrays = quality_of(counts);
  arrays.set("neighbor_items", nearest);
  arrays.set("neighbor_weights", weights);
  const json items = parse(arrays, named_items(kItems), counts).at("neighbors");
  ASSERT_EQ(items.size(), 200U);
  EXPECT_EQ(
      items[0],
      json({"i989", "title 989", 989, {{"i990", "title 990", 0.123}, {"i7", "title 7", 0.01}}}));
  EXPECT_EQ(items[99][0], "i890") << "the most popular ones";
  EXPECT_LT(items[100][2], 890) << "some of the others";
  EXPECT_EQ(items[199][0], "i0") << "down to the rarest";
}

TEST(InsideReport, TakesAnyBytesAsTitles) {
  const std::vector<Index> counts = {3, 1, 4, 1, 5};
  NamedArrays arrays = quality_of(counts);
  arrays.set("item_groups", two_levels());
  data::Dataset dataset = named_items(5);
  dataset.item_titles[0] = "</script><!-- \" \\ \xff\xfe \n caf\xc3\xa9";
  dataset.item_names[0] = std::string("a\0b", 3);
  const json leaf = parse(arrays, dataset, counts).at("hierarchy").at("groups")[0].at("groups")[0];
  EXPECT_EQ(leaf.at("popular")[0][0], std::string("a\0b", 3));
  EXPECT_EQ(leaf.at("popular")[0][1],
            "</script><!-- \" \\ \xEF\xBF\xBD\xEF\xBF\xBD \n caf\xc3\xa9");
}

TEST(InsideReport, ListsOnlyThePopularItemsOfALargeCatalogue) {
  constexpr Index kItems = 50'000;
  constexpr std::int32_t kGroups = 400;
  std::vector<Index> counts(kItems);
  MatrixOf<std::int32_t> groups(kItems, 1);
  for (Index item = 0; item < kItems; ++item) {
    counts[static_cast<std::size_t>(item)] = item;
    groups(item) = static_cast<std::int32_t>(item) % kGroups;
  }
  NamedArrays arrays = quality_of(counts);
  arrays.set("item_groups", groups);
  const json root = parse(arrays, named_items(kItems), counts).at("hierarchy");
  for (const json& group : root.at("groups")) {
    EXPECT_EQ(group.at("items"), kItems / kGroups);
    ASSERT_EQ(group.at("popular").size(), 10U);
    EXPECT_GT(group.at("popular")[0][2], group.at("popular")[9][2]);
    EXPECT_GE(group.at("popular")[0][2], kItems - kGroups);
  }
}
}  // namespace
}  // namespace fedhur::report
