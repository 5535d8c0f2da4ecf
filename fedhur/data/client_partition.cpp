#include "fedhur/data/client_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fedhur/base/error.hpp"
#include "fedhur/data/taste_groups.hpp"

namespace fedhur::data {
namespace {
using Users = std::vector<std::size_t>;

Users users_in_order(const Dataset& dataset) {
  Users users(dataset.user_names.size());
  std::iota(users.begin(), users.end(), std::size_t{0});
  return users;
}

// floor(users / clients) each, the last client takes the rest as well.
std::vector<ClientId> cut_into_blocks(const Users& order, Index num_clients) {
  const auto last = static_cast<std::size_t>(num_clients) - 1;
  const std::size_t block = order.size() / (last + 1);
  std::vector<ClientId> owners(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    owners[order[i]] = static_cast<ClientId>(std::min(i / block, last));
  }
  return owners;
}

// Shares of a Dirichlet draw summed up: the last is 1.
std::vector<double> draw_cumulative_shares(std::size_t count, double concentration, Rng& rng) {
  std::vector<double> shares(count);
  for (double& share : shares) share = rng.gamma(concentration);
  if (!(std::accumulate(shares.begin(), shares.end(), 0.0) > 0.0)) {
    shares[rng.below(count)] = 1.0;  // tiny concentrations round every share down to zero
  }
  std::partial_sum(shares.begin(), shares.end(), shares.begin());
  for (double& share : shares) share /= shares.back();
  return shares;
}

void fill_empty_clients(std::vector<ClientId>& owners, std::size_t num_clients) {
  std::vector<Users> users(num_clients);
  for (std::size_t user = 0; user < owners.size(); ++user) {
    users[static_cast<std::size_t>(index_of(owners[user]))].push_back(user);
  }
  for (std::size_t client = 0; client < num_clients; ++client) {
    if (!users[client].empty()) continue;
    const auto largest =
        std::ranges::max_element(users, {}, [](const Users& u) { return u.size(); });
    users[client].push_back(largest->back());
    owners[largest->back()] = static_cast<ClientId>(client);
    largest->pop_back();
  }
}

std::vector<ClientId> deal_by_taste(const Dataset& dataset, const PartitionConfig& config,
                                    const Rng& rng) {
  const Index num_tastes = std::min(config.num_tastes, dataset.num_users());
  const auto tastes = group_by_taste(dataset, num_tastes, rng.stream(Draw::partition));
  const auto num_clients = static_cast<std::size_t>(config.num_clients);
  std::vector<Users> users_of_taste(static_cast<std::size_t>(num_tastes));
  for (std::size_t user = 0; user < tastes.size(); ++user) {
    users_of_taste[static_cast<std::size_t>(tastes[user])].push_back(user);
  }
  std::vector<ClientId> owners(tastes.size());
  for (std::size_t taste = 0; taste < users_of_taste.size(); ++taste) {
    Rng draws = rng.stream(Draw::partition, taste + 1);
    Users& users = users_of_taste[taste];
    draws.shuffle(std::span(users));
    const auto shares = draw_cumulative_shares(num_clients, config.concentration, draws);
    for (std::size_t i = 0; i < users.size(); ++i) {
      const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(users.size());
      const auto client = std::ranges::upper_bound(shares, place) - shares.begin();
      owners[users[i]] =
          static_cast<ClientId>(std::min(static_cast<std::size_t>(client), num_clients - 1));
    }
  }
  fill_empty_clients(owners, num_clients);
  return owners;
}

void require_enough_users(const Dataset& dataset, const PartitionConfig& config) {
  if (dataset.num_users() >= config.num_clients) return;
  throw ConfigError(
      fmt::format("clients.count = {}: expected at most {}, the number of users in {}",
                  config.num_clients, dataset.num_users(), dataset.name));
}

std::vector<ClientId> given_clients(const Dataset& dataset) {
  if (dataset.user_clients.empty()) {
    throw ConfigError(
        fmt::format("clients.kind = given: {} says nothing about clients", dataset.name));
  }
  return dataset.user_clients;
}
}  // namespace

void validate(const PartitionConfig& config) {
  const auto fail = [](const char* key, auto value, const char* expected) {
    throw ConfigError(fmt::format("{} = {}: expected {}", key, value, expected));
  };
  if (config.num_clients < 1) fail("clients.count", config.num_clients, "a whole number from 1");
  if (config.num_tastes < 1) fail("clients.num_tastes", config.num_tastes, "a whole number from 1");
  if (!std::isfinite(config.concentration) || config.concentration <= 0.0) {
    fail("clients.concentration", config.concentration, "a number above 0");
  }
}

std::vector<ClientId> partition(const Dataset& dataset, const PartitionConfig& config,
                                const Rng& rng) {
  validate(config);
  if (config.kind == PartitionKind::given) return given_clients(dataset);
  Users users = users_in_order(dataset);
  if (config.kind == PartitionKind::user) return cut_into_blocks(users, dataset.num_users());
  require_enough_users(dataset, config);
  if (config.kind == PartitionKind::dirichlet) return deal_by_taste(dataset, config, rng);
  if (config.kind == PartitionKind::random) {
    rng.stream(Draw::partition).shuffle(std::span(users));
  }
  return cut_into_blocks(users, config.num_clients);
}
}  // namespace fedhur::data
