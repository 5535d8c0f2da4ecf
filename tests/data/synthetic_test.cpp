#include "fedhur/data/synthetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "fedhur/base/matrix.hpp"
#include "fedhur/data/client_data.hpp"
#include "fedhur/data/split.hpp"
#include "tests/data/small_data.hpp"

namespace fedhur::data {
namespace {
TEST(Synthetic, HasTheSizesThatWereAskedFor) {
  const Dataset data = make_synthetic(
      {.num_users = 7, .num_items = 30, .num_interactions = 101, .num_groups = 4}, Rng(1));
  EXPECT_EQ(data.num_users(), 7);
  EXPECT_EQ(data.num_items(), 30);
  EXPECT_EQ(data.item_titles.size(), 30U);
  EXPECT_EQ(data.interactions.size(), 101U);
  EXPECT_EQ(data.sha256.size(), 64U);
  std::set<std::pair<UserId, ItemId>> pairs;
  std::set<UserId> users;
  for (const Interaction& row : data.interactions) {
    EXPECT_TRUE(pairs.emplace(row.user, row.item).second);
    users.insert(row.user);
  }
  EXPECT_EQ(users.size(), 7U);
}

TEST(Synthetic, ReachesItsLimits) {
  const Dataset full = make_synthetic(
      {.num_users = 3, .num_items = 5, .num_interactions = 15, .num_groups = 5, .affinity = 1.0},
      Rng(1));
  EXPECT_EQ(full.interactions.size(), 15U);
  const Dataset thin = make_synthetic(
      {.num_users = 3, .num_items = 1, .num_interactions = 3, .num_groups = 1}, Rng(1));
  EXPECT_EQ(thin.interactions.size(), 3U);
}

TEST(Synthetic, DependsOnSeedAndSettingsAlone) {
  const Dataset once = make_synthetic({}, Rng(1));
  const Dataset again = make_synthetic({}, Rng(1));
  const Dataset other = make_synthetic({}, Rng(2));
  EXPECT_EQ(rows_of(once), rows_of(again));
  EXPECT_EQ(once.item_titles, again.item_titles);
  EXPECT_EQ(once.sha256, again.sha256);
  EXPECT_NE(rows_of(once), rows_of(other));
  EXPECT_NE(once.sha256, other.sha256);
  EXPECT_NE(once.sha256, make_synthetic({.affinity = 0.5}, Rng(1)).sha256);
}

TEST(Synthetic, TellsTheGroupInTheTitle) {
  const Dataset data = make_synthetic({}, Rng(1));
  std::set<std::string> words;
  for (const std::string& title : data.item_titles) words.insert(title.substr(0, title.find(' ')));
  EXPECT_EQ(words.size(), 12U);
  EXPECT_TRUE(words.contains("Amber"));
  EXPECT_EQ(std::set<std::string>(data.item_titles.begin(), data.item_titles.end()).size(), 800U);
}

// Mean share of the test items among the 20 best of a score(user, item), training items left out.
double recall(const ClientData& data, Index num_items,
              const std::function<double(Index, Index)>& score) {
  double sum = 0.0;
  Index counted = 0;
  for (Index user = 0; user < data.train.num_users(); ++user) {
    if (data.test.of(user).empty()) continue;
    std::vector<std::pair<double, Index>> ranked;
    for (Index item = 0; item < num_items; ++item) {
      if (!data.train.contains(user, item_id(item))) ranked.emplace_back(-score(user, item), item);
    }
    std::partial_sort(ranked.begin(), ranked.begin() + 20, ranked.end());
    double hits = 0.0;
    for (int i = 0; i < 20; ++i) {
      hits += data.test.contains(user, item_id(ranked[static_cast<std::size_t>(i)].second)) ? 1 : 0;
    }
    sum += hits / static_cast<double>(data.test.of(user).size());
    ++counted;
  }
  return sum / static_cast<double>(counted);
}

TEST(Synthetic, RewardsPopularityAndMoreSoTaste) {
  const Dataset data = make_synthetic({}, Rng(3));
  const auto parts = split(data, {}, Rng(3));
  const ClientData all =
      distribute(data, parts, std::vector<ClientId>(data.user_names.size(), client_id(0))).front();
  Matrix rows = Matrix::Zero(data.num_users(), data.num_items());
  for (Index user = 0; user < data.num_users(); ++user) {
    for (const ItemId item : all.train.of(user)) rows(user, index_of(item)) = 1.0F;
  }
  const Vector popularity = rows.colwise().sum();
  const Vector scale = popularity.cwiseMax(1.0F).cwiseSqrt().cwiseInverse();
  const Matrix scaled = rows * scale.asDiagonal();
  const Matrix similarity = scaled.transpose() * scaled;
  const Matrix personal = rows * similarity;
  Rng rng(8);
  const double by_chance =
      recall(all, data.num_items(), [&](Index, Index) { return rng.uniform(); });
  const double by_popularity =
      recall(all, data.num_items(), [&](Index, Index item) { return popularity(item); });
  const double by_taste =
      recall(all, data.num_items(), [&](Index user, Index item) { return personal(user, item); });
  EXPECT_GT(by_popularity, 2.0 * by_chance);
  EXPECT_GT(by_taste, 1.5 * by_popularity);
}

TEST(Synthetic, RefusesImpossibleSettings) {
  const auto refused = [](const SyntheticConfig& config) {
    return message_of<ConfigError>([&] { (void)make_synthetic(config, Rng(1)); });
  };
  EXPECT_EQ(refused({.num_users = 0}),
            "synthetic.num_users = 0: expected a whole number from 1 to 10000000");
  EXPECT_EQ(refused({.num_items = -1}),
            "synthetic.num_items = -1: expected a whole number from 1 to 10000000");
  EXPECT_EQ(refused({.num_groups = 801}),
            "synthetic.num_groups = 801: expected 1 to 800, the number of items");
  EXPECT_EQ(refused({.num_users = 2, .num_items = 20, .num_interactions = 41}),
            "synthetic.num_interactions = 41: expected 2 to 40, one row per user up to all pairs");
  EXPECT_EQ(refused({.popularity_exponent = -1.0}),
            "synthetic.popularity_exponent = -1.0: expected a number from 0 to 5");
  EXPECT_EQ(refused({.affinity = 1.5}), "synthetic.affinity = 1.5: expected a number from 0 to 1");
}
}  // namespace
}  // namespace fedhur::data
