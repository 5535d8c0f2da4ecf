#include "fedhur/data/conflicts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "fedhur/data/synthetic.hpp"
#include "tests/data/small_data.hpp"

namespace fedhur::data {
namespace {
// 203 items: five bands of 40 or 41.
Dataset small_world() {
  return make_synthetic({.num_users = 30, .num_items = 203, .num_interactions = 1500}, Rng(1));
}

std::vector<ClientId> three_users_each() {
  std::vector<ClientId> owners;
  for (Index user = 0; user < 30; ++user) owners.push_back(client_id(user / 3));
  return owners;
}

std::vector<Index> row_counts(const Dataset& data) {
  std::vector<Index> counts(data.item_names.size(), 0);
  for (const Interaction& row : data.interactions) ++counts[slot(row.item)];
  return counts;
}

TEST(Conflicts, PermuteItemsWithinTheirGroupsAndLeaveOtherGroupsAlone) {
  const Dataset data = small_world();
  const auto groups = deal_item_groups(data, Rng(3));
  for (const Index num_groups : {1, 4, 10}) {
    const auto ids = conflicting_ids(data, {.share = 0.5, .num_groups = num_groups}, Rng(3));
    ASSERT_EQ(ids.size(), 203U);
    std::vector<ItemId> sorted = ids;
    std::ranges::sort(sorted);
    for (std::size_t item = 0; item < ids.size(); ++item) {
      EXPECT_EQ(slot(sorted[item]), item) << "every id is there once";
      EXPECT_EQ(groups[slot(ids[item])], groups[item]);
      EXPECT_EQ(slot(ids[item]) != item, groups[item] < num_groups) << item;
    }
  }
}

TEST(Conflicts, HaveGroupsOfOneSizeWithItemsOfAnyPopularity) {
  const Dataset data = small_world();
  const auto groups = deal_item_groups(data, Rng(3));
  const auto counts = row_counts(data);
  std::vector<Index> sizes(kConflictGroups, 0);
  std::vector<Index> rows(kConflictGroups, 0);
  for (std::size_t item = 0; item < groups.size(); ++item) {
    ++sizes[static_cast<std::size_t>(groups[item])];
    rows[static_cast<std::size_t>(groups[item])] += counts[item];
  }
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    EXPECT_NEAR(static_cast<double>(sizes[group]), 20.5, 2.5);
    EXPECT_NEAR(static_cast<double>(rows[group]), 150.0, 60.0);
  }
}

TEST(Conflicts, KeepAnItemsPopularityAboutWhatItIs) {
  const Dataset data = small_world();
  const auto counts = row_counts(data);
  const auto ids = conflicting_ids(data, {.share = 0.5}, Rng(3));
  std::vector<Index> order(counts.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](Index item) { return counts[static_cast<std::size_t>(item)]; });
  std::vector<Index> ranks(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    ranks[static_cast<std::size_t>(order[rank])] = static_cast<Index>(rank);
  }
  for (std::size_t item = 0; item < ids.size(); ++item) {
    EXPECT_LE(std::abs(ranks[item] - ranks[slot(ids[item])]), 40) << "one band";
  }
}

TEST(Conflicts, ChangeTheRowsOfTheChosenClientsAlone) {
  const Dataset before = small_world();
  const auto owners = three_users_each();
  Dataset after = before;
  const ConflictConfig config = {.share = 0.3, .num_groups = 10};
  const Conflicts conflicts = add_conflicts(after, owners, config, Rng(3));
  const auto ids = conflicting_ids(before, config, Rng(3));
  EXPECT_EQ(std::ranges::count(conflicts.clients, true), 3);
  EXPECT_EQ(conflicts.clients, conflicting_clients(10, 0.3, Rng(3)));
  EXPECT_EQ(conflicts.num_items, 203);
  EXPECT_EQ(after.item_names, before.item_names);
  for (std::size_t i = 0; i < before.interactions.size(); ++i) {
    const Interaction& row = before.interactions[i];
    const bool is_chosen = conflicts.clients[slot(owners[slot(row.user)])];
    EXPECT_EQ(after.interactions[i].item, is_chosen ? ids[slot(row.item)] : row.item);
    EXPECT_EQ(after.interactions[i].user, row.user);
    EXPECT_EQ(after.interactions[i].rating, row.rating);
    EXPECT_EQ(after.interactions[i].timestamp, row.timestamp);
  }
}

TEST(Conflicts, AreAbsentWithAShareOfZero) {
  const Dataset before = small_world();
  Dataset after = before;
  for (const ConflictKind kind : {ConflictKind::permuted, ConflictKind::apart}) {
    const Conflicts conflicts =
        add_conflicts(after, three_users_each(), {.share = 0.0, .kind = kind}, Rng(3));
    EXPECT_TRUE(conflicts.clients.empty());
    EXPECT_EQ(rows_of(after), rows_of(before));
    EXPECT_EQ(after.item_names, before.item_names);
  }
  Dataset empty;
  EXPECT_TRUE(add_conflicts(empty, {}, {.share = 0.5}, Rng(3)).clients.empty());
}

TEST(Conflicts, ConcernMoreClientsWithALargerShareAndNeverFewer) {
  const auto few = conflicting_clients(23, 0.2, Rng(5));
  const auto many = conflicting_clients(23, 0.5, Rng(5));
  EXPECT_EQ(std::ranges::count(few, true), 5);  // of 4.6
  EXPECT_EQ(std::ranges::count(many, true), 12);
  for (std::size_t client = 0; client < few.size(); ++client) {
    EXPECT_TRUE(many[client] || !few[client]);
  }
  EXPECT_NE(few, conflicting_clients(23, 0.2, Rng(6)));
  EXPECT_EQ(std::ranges::count(conflicting_clients(23, 1.0, Rng(5)), true), 23);
}

TEST(Conflicts, DependOnTheSeed) {
  const Dataset data = small_world();
  const ConflictConfig config = {.share = 0.5};
  EXPECT_EQ(conflicting_ids(data, config, Rng(3)), conflicting_ids(data, config, Rng(3)));
  EXPECT_NE(conflicting_ids(data, config, Rng(3)), conflicting_ids(data, config, Rng(4)));
}

TEST(Conflicts, LeaveAnItemThatIsAloneInItsGroup) {
  const Dataset data = dataset_of({{0, 0}, {0, 1}, {1, 2}});
  const auto ids = conflicting_ids(data, {.share = 0.5}, Rng(3));
  for (std::size_t item = 0; item < ids.size(); ++item) EXPECT_EQ(slot(ids[item]), item);
}

TEST(Conflicts, GiveTwoDomainsNoItemInCommon) {
  const Dataset before = small_world();
  const auto owners = three_users_each();
  Dataset after = before;
  const Conflicts conflicts =
      add_conflicts(after, owners, {.share = 0.5, .kind = ConflictKind::apart}, Rng(3));
  EXPECT_EQ(after.num_items(), 406);
  EXPECT_EQ(after.item_titles.size(), 406U);
  EXPECT_EQ(after.item_names[203], before.item_names[0] + " (2)");
  EXPECT_EQ(after.item_titles[405], before.item_titles[202]);
  for (std::size_t i = 0; i < before.interactions.size(); ++i) {
    const Interaction& row = before.interactions[i];
    const Index shift = conflicts.clients[slot(owners[slot(row.user)])] ? 203 : 0;
    EXPECT_EQ(index_of(after.interactions[i].item), index_of(row.item) + shift);
  }
}

TEST(Conflicts, RefuseWhatIsNoShareAndNoNumberOfGroups) {
  const auto refused = [](const ConflictConfig& config) {
    Dataset data = small_world();
    return message_of<ConfigError>(
        [&] { (void)add_conflicts(data, three_users_each(), config, Rng(1)); });
  };
  EXPECT_EQ(refused({.share = 1.5}), "conflict.clients = 1.5: expected a number from 0 to 1");
  EXPECT_EQ(refused({.share = -0.1}), "conflict.clients = -0.1: expected a number from 0 to 1");
  EXPECT_NE(refused({.share = std::numeric_limits<double>::quiet_NaN()}), "");
  EXPECT_EQ(refused({.num_groups = 0}),
            "conflict.groups = 0: expected a whole number from 1 to 10");
  EXPECT_EQ(refused({.num_groups = 11}),
            "conflict.groups = 11: expected a whole number from 1 to 10");
}
}  // namespace
}  // namespace fedhur::data
