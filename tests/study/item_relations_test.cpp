#include "fedhur/study/item_relations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/support.hpp"

namespace fedhur::study {
namespace {
using testing::Contains;
using testing::HasSubstr;

TEST(ItemRelations, LeadFromACoarseGroupDownToTheItem) {
  const ItemRelations found = find_item_relations(tests::tiny_settings("fedhur"), "", 2, 2);
  ASSERT_FALSE(found.steps.empty());
  Index items_before = 61;
  for (std::size_t i = 0; i < found.steps.size(); ++i) {
    const ItemStep& step = found.steps[i];
    EXPECT_EQ(step.level, static_cast<Index>(i));
    EXPECT_LE(step.num_items, items_before);
    items_before = step.num_items;
    EXPECT_THAT(step.items, Contains(found.item));  // the most frequent of all is so in its group
    ASSERT_EQ(step.helpers.size(), 5U);
    for (std::size_t j = 1; j < 5; ++j) {
      EXPECT_GE(step.helpers[j - 1].weight, step.helpers[j].weight);
    }
    EXPECT_GT(step.helpers[0].weight, 1.0 / 7.0);  // the largest of seven that sum to one
    EXPECT_GT(step.entropy, 0.0);
    EXPECT_LE(step.entropy, 1.0);
  }
  EXPECT_EQ(found.steps.back().num_items, 1);
  EXPECT_EQ(found.num_clients, 7);
  const auto json = nlohmann::json::parse(to_json(found));
  EXPECT_EQ(json["steps"].size(), found.steps.size());
  EXPECT_THAT(to_markdown(found), HasSubstr("in round 2"));
  EXPECT_THAT(to_csv(found), HasSubstr("\n1,"));
}

TEST(ItemRelations, AreOfRoundsWithAllClients) {
  ConfigTable table = tests::tiny_settings("fedhur");
  experiment::add_assignment(table, "federation.dropout=0.3");
  EXPECT_THROW((void)find_item_relations(table, "", 0, 1), ConfigError);
}

TEST(ItemRelations, AreOfItemsAndClientsThatExist) {
  const ConfigTable table = tests::tiny_settings("fedhur");
  EXPECT_THROW((void)find_item_relations(table, "no such item", 0, 1), ConfigError);
  EXPECT_THROW((void)find_item_relations(table, "", 7, 1), ConfigError);
  const std::string item = find_item_relations(table, "", 0, 1).item;
  EXPECT_EQ(find_item_relations(table, item, 0, 1).item, item);
}
}  // namespace
}  // namespace fedhur::study
