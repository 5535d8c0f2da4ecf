#include "fedhur/data/client_partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fedhur/data/client_data.hpp"
#include "tests/data/small_data.hpp"

namespace fedhur::data {
namespace {
// Users with even numbers like items 0 to 4, the others items 5 to 9; user u skips one of them.
Dataset two_tastes(Index num_users) {
  Dataset data;
  data.name = "two tastes";
  for (Index item = 0; item < 10; ++item) data.item_names.push_back(std::to_string(item));
  for (Index user = 0; user < num_users; ++user) {
    data.user_names.push_back(std::to_string(user));
    for (Index i = 0; i < 5; ++i) {
      if (i == (user / 2) % 5) continue;
      data.interactions.push_back(
          {.user = user_id(user), .item = item_id(i + (user % 2 == 0 ? 0 : 5))});
    }
  }
  return data;
}

std::vector<Index> sizes_of(const std::vector<ClientId>& owners, Index num_clients) {
  std::vector<Index> sizes(static_cast<std::size_t>(num_clients), 0);
  for (const ClientId owner : owners) ++sizes.at(static_cast<std::size_t>(index_of(owner)));
  return sizes;
}

TEST(Partition, InBlocksGivesTheRemainderToTheLastClient) {
  const auto owners = partition(two_tastes(8), {.num_clients = 3}, Rng(1));
  const std::vector<Index> expected = {0, 0, 1, 1, 2, 2, 2, 2};
  for (std::size_t user = 0; user < 8; ++user) EXPECT_EQ(index_of(owners[user]), expected[user]);
}

TEST(Partition, AtRandomShufflesTheBlocks) {
  const Dataset data = two_tastes(50);
  const PartitionConfig config{.kind = PartitionKind::random, .num_clients = 7};
  const auto owners = partition(data, config, Rng(1));
  EXPECT_EQ(sizes_of(owners, 7), (std::vector<Index>{7, 7, 7, 7, 7, 7, 8}));
  EXPECT_EQ(owners, partition(data, config, Rng(1)));
  EXPECT_NE(owners, partition(data, config, Rng(2)));
  EXPECT_FALSE(std::ranges::is_sorted(owners));
}

TEST(Partition, ByUserGivesEveryoneAClient) {
  const auto owners =
      partition(two_tastes(4), {.kind = PartitionKind::user, .num_clients = 100}, Rng(1));
  EXPECT_EQ(sizes_of(owners, 4), (std::vector<Index>{1, 1, 1, 1}));
}

TEST(Partition, TakesTheGivenClients) {
  Dataset data = two_tastes(2);
  data.user_clients = {client_id(1), client_id(0)};
  EXPECT_EQ(partition(data, {.kind = PartitionKind::given}, Rng(1)), data.user_clients);
}

TEST(Partition, CoversAllUsersAndLeavesNoClientEmptyWhateverTheKind) {
  for (const Index num_users : {1, 2, 13, 60}) {
    const Dataset data = two_tastes(num_users);
    for (const auto kind :
         {PartitionKind::blocks, PartitionKind::random, PartitionKind::dirichlet}) {
      for (const double concentration : {1e-4, 0.5, 1000.0}) {
        for (Index num_clients = 1; num_clients <= num_users; num_clients += 4) {
          const PartitionConfig config{
              .kind = kind, .num_clients = num_clients, .concentration = concentration};
          const auto owners = partition(data, config, Rng(9));
          ASSERT_EQ(owners.size(), data.user_names.size());
          EXPECT_GE(std::ranges::min(sizes_of(owners, num_clients)), 1);
          EXPECT_EQ(owners, partition(data, config, Rng(9)));
        }
      }
    }
  }
}

TEST(TasteGroups, FindTheTwoTastes) {
  const auto groups = group_by_taste(two_tastes(40), 2, Rng(4));
  for (std::size_t user = 0; user < groups.size(); ++user) {
    EXPECT_EQ(groups[user], groups[user % 2]);
  }
  EXPECT_NE(groups[0], groups[1]);
}

// Mean over clients of how far the share of even users is from one half; 0.5 if tastes never mix.
double separation(double concentration) {
  const Dataset data = two_tastes(400);
  const auto owners = partition(data,
                                {.kind = PartitionKind::dirichlet,
                                 .num_clients = 8,
                                 .concentration = concentration,
                                 .num_tastes = 2},
                                Rng(2));
  const auto sizes = sizes_of(owners, 8);
  std::vector<double> even(8, 0.0);
  for (std::size_t user = 0; user < owners.size(); user += 2) {
    even[static_cast<std::size_t>(index_of(owners[user]))] += 1.0;
  }
  double sum = 0.0;
  for (std::size_t c = 0; c < 8; ++c)
    sum += std::abs(even[c] / static_cast<double>(sizes[c]) - 0.5);
  return sum / 8.0;
}

TEST(Partition, WithASmallConcentrationMakesClientsUnlikeEachOther) {
  EXPECT_LT(separation(10000.0), 0.05);
  EXPECT_GT(separation(0.1), 0.3);
}

TEST(Partition, RefusesWhatTheDataOrTheSettingsDoNotAllow) {
  const Dataset data = two_tastes(3);
  EXPECT_EQ(message_of<ConfigError>([&] { (void)partition(data, {.num_clients = 4}, Rng(1)); }),
            "clients.count = 4: expected at most 3, the number of users in two tastes");
  EXPECT_EQ(message_of<ConfigError>(
                [&] { (void)partition(data, {.kind = PartitionKind::given}, Rng(1)); }),
            "clients.kind = given: two tastes assigns no users to clients");
  EXPECT_THROW((void)partition(data, {.num_clients = 0}, Rng(1)), ConfigError);
  EXPECT_THROW((void)partition(data, {.num_clients = 2, .concentration = 0.0}, Rng(1)),
               ConfigError);
  EXPECT_THROW((void)partition(data, {.num_clients = 2, .num_tastes = 0}, Rng(1)), ConfigError);
}

TEST(Distribute, GivesEveryClientItsUsersAndTheirRowsByPart) {
  const Dataset data = dataset_of({{0, 3}, {0, 1}, {1, 2}, {2, 0}, {2, 3}});
  const auto clients =
      distribute(data, {Part::train, Part::train, Part::test, Part::valid, Part::train},
                 {client_id(1), client_id(0), client_id(1)});
  ASSERT_EQ(clients.size(), 2U);
  EXPECT_EQ(clients[0].users, (std::vector<UserId>{user_id(1)}));
  EXPECT_EQ(clients[0].train.size(), 0);
  EXPECT_TRUE(clients[0].test.contains(0, item_id(2)));
  EXPECT_EQ(clients[1].users, (std::vector<UserId>{user_id(0), user_id(2)}));
  EXPECT_EQ(clients[1].train.of(0).size(), 2U);
  EXPECT_EQ(clients[1].train.of(0)[0], item_id(1));
  EXPECT_TRUE(clients[1].train.contains(1, item_id(3)));
  EXPECT_TRUE(clients[1].valid.contains(1, item_id(0)));
  EXPECT_EQ(clients[1].test.num_users(), 2);
  EXPECT_EQ(clients[1].test.size(), 0);
}
}  // namespace
}  // namespace fedhur::data
