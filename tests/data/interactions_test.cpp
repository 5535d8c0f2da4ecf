#include "fedhur/data/interactions.hpp"

#include <gtest/gtest.h>

namespace fedhur::data {
namespace {
TEST(UserItems, SortsEveryListAndKeepsRepeatedItemsOnce) {
  const UserItems users({{item_id(5), item_id(2), item_id(5)}, {}, {item_id(0)}});
  ASSERT_EQ(users.num_users(), 3);
  EXPECT_EQ(users.size(), 3);
  ASSERT_EQ(users.of(0).size(), 2U);
  EXPECT_EQ(users.of(0)[0], item_id(2));
  EXPECT_EQ(users.of(0)[1], item_id(5));
  EXPECT_TRUE(users.of(1).empty());
  EXPECT_EQ(users.of(2)[0], item_id(0));
}

TEST(UserItems, ContainsWhatAUserHasAndNothingElse) {
  const UserItems users({{item_id(3), item_id(1)}, {item_id(2)}});
  EXPECT_TRUE(users.contains(0, item_id(1)));
  EXPECT_TRUE(users.contains(0, item_id(3)));
  EXPECT_FALSE(users.contains(0, item_id(2)));
  EXPECT_FALSE(users.contains(1, item_id(3)));
}

TEST(UserItems, MayBeEmpty) {
  EXPECT_EQ(UserItems().num_users(), 0);
  EXPECT_EQ(UserItems().size(), 0);
}
}  // namespace
}  // namespace fedhur::data
