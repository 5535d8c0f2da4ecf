#include "fedhur/data/filter.hpp"

#include <gtest/gtest.h>

#include "tests/data/small_data.hpp"

namespace fedhur::data {
namespace {
using Names = std::vector<std::string>;

TEST(Filter, KeepsEverythingByDefault) {
  const Dataset data = dataset_of({{0, 1}, {1, 0}, {1, 1}});
  EXPECT_EQ(rows_of(filter(data, {})), rows_of(data));
}

TEST(Filter, DropsRowsBelowTheRatingAndNumbersTheRestAnew) {
  Dataset data = dataset_of({{0, 0}, {1, 2}, {1, 1}});
  data.has_ratings = true;
  data.interactions[0].rating = 2.5F;
  data.interactions[1].rating = 3.0F;
  data.interactions[2].rating = 5.0F;
  const Dataset left = filter(data, {.min_rating = 3.0});
  EXPECT_EQ(left.user_names, (Names{"u1"}));
  EXPECT_EQ(left.item_names, (Names{"i1", "i2"}));
  EXPECT_EQ(left.item_titles, (Names{"title 1", "title 2"}));
  EXPECT_EQ(rows_of(left), (Names{"u1 i2 30 0", "u1 i1 50 0"}));
}

TEST(Filter, RepeatsUntilEveryUserAndItemHasEnough) {
  // u2 falls first, then i2 has one row left and falls, then u1, who had two.
  const Dataset data = dataset_of({{0, 0}, {0, 1}, {1, 0}, {1, 2}, {2, 2}, {3, 0}, {3, 1}});
  const Dataset left = filter(data, {.min_user_interactions = 2, .min_item_interactions = 2});
  EXPECT_EQ(left.user_names, (Names{"u0", "u3"}));
  EXPECT_EQ(left.item_names, (Names{"i0", "i1"}));
  EXPECT_EQ(left.interactions.size(), 4U);
}

TEST(Filter, TakesPartsAndClientsAlong) {
  Dataset data = dataset_of({{0, 0}, {1, 1}, {1, 0}, {2, 0}, {2, 1}});
  data.parts = {Part::train, Part::test, Part::valid, Part::train, Part::test};
  data.user_clients = {client_id(0), client_id(2), client_id(1)};
  const Dataset left = filter(data, {.min_user_interactions = 2});
  EXPECT_EQ(left.parts, (std::vector<Part>{Part::test, Part::valid, Part::train, Part::test}));
  EXPECT_EQ(left.user_clients, (std::vector<ClientId>{client_id(1), client_id(0)}));
}

TEST(Filter, RefusesToLeaveNothing) {
  const Dataset data = dataset_of({{0, 0}});
  EXPECT_EQ(message_of<DataError>([&] { (void)filter(data, {.min_user_interactions = 2}); }),
            "small: no interaction is left with min_rating 0, min_user_interactions 2 and "
            "min_item_interactions 1");
}

TEST(Filter, RefusesSettingsThatMakeNoSense) {
  const Dataset data = dataset_of({{0, 0}});
  EXPECT_THROW((void)filter(data, {.min_rating = -1.0}), ConfigError);
  EXPECT_THROW((void)filter(data, {.min_rating = NAN}), ConfigError);
  EXPECT_THROW((void)filter(data, {.min_user_interactions = -1}), ConfigError);
  EXPECT_EQ(message_of<ConfigError>([&] { (void)filter(data, {.min_rating = 4.0}); }),
            "data.min_rating = 4: the data has no ratings, expected 0");
}
}  // namespace
}  // namespace fedhur::data
