#include "fedhur/data/client_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fedhur/base/error.hpp"
#include "fedhur/base/matrix.hpp"
#include "fedhur/base/settings.hpp"

namespace fedhur::data {
namespace {
constexpr int kMaxSweeps = 20;

UserItems items_of_users(const Dataset& dataset) {
  std::vector<std::vector<ItemId>> lists(dataset.user_names.size());
  for (const Interaction& row : dataset.interactions) {
    lists[slot(row.user)].push_back(row.item);
  }
  return UserItems(lists);
}

// Cosine between a user's set of items and a center of length one.
double similarity(std::span<const ItemId> items, const MatrixOf<double>& centers, Index group) {
  if (items.empty()) return 0.0;
  double sum = 0.0;
  for (const ItemId item : items) sum += centers(group, index_of(item));
  return sum / std::sqrt(static_cast<double>(items.size()));
}

void add_user(std::span<const ItemId> items, MatrixOf<double>& centers, Index group) {
  const double weight =
      1.0 / std::sqrt(static_cast<double>(std::max<std::size_t>(items.size(), 1)));
  for (const ItemId item : items) centers(group, index_of(item)) += weight;
}

Index draw_proportionally(const std::vector<double>& weights, Rng& rng) {
  double total = 0.0;
  for (const double weight : weights) total += weight;
  if (!(total > 0.0)) return static_cast<Index>(rng.below(weights.size()));
  double rest = rng.uniform() * total;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    rest -= weights[i];
    if (rest < 0.0) return static_cast<Index>(i);
  }
  return static_cast<Index>(weights.size()) - 1;
}

// k-means++: the next center is a user that is unlike all centers so far.
MatrixOf<double> first_centers(const UserItems& users, Index num_items, Index num_groups,
                               Rng& rng) {
  MatrixOf<double> centers = MatrixOf<double>::Zero(num_groups, num_items);
  std::vector<double> distances(static_cast<std::size_t>(users.num_users()), 1.0);
  for (Index group = 0; group < num_groups; ++group) {
    add_user(users.of(draw_proportionally(distances, rng)), centers, group);
    for (Index user = 0; user < users.num_users(); ++user) {
      double& distance = distances[static_cast<std::size_t>(user)];
      const double to_new = 1.0 - similarity(users.of(user), centers, group);
      distance = std::clamp(to_new, 0.0, distance);
    }
  }
  return centers;
}

Index most_similar(std::span<const ItemId> items, const MatrixOf<double>& centers) {
  Index best = 0;
  double best_similarity = -1.0;
  for (Index group = 0; group < centers.rows(); ++group) {
    const double here = similarity(items, centers, group);
    if (here > best_similarity) {
      best_similarity = here;
      best = group;
    }
  }
  return best;
}

MatrixOf<double> centers_of(const UserItems& users, const std::vector<Index>& groups,
                            const MatrixOf<double>& previous) {
  MatrixOf<double> centers = MatrixOf<double>::Zero(previous.rows(), previous.cols());
  for (Index user = 0; user < users.num_users(); ++user) {
    add_user(users.of(user), centers, groups[static_cast<std::size_t>(user)]);
  }
  for (Index group = 0; group < centers.rows(); ++group) {
    const double length = centers.row(group).norm();
    if (length > 0.0) {
      centers.row(group) /= length;
    } else {
      centers.row(group) = previous.row(group);  // an empty group may win users back
    }
  }
  return centers;
}

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
    users[slot(owners[user])].push_back(user);
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
        fmt::format("clients.kind = given: {} assigns no users to clients", dataset.name));
  }
  return dataset.user_clients;
}
}  // namespace

std::vector<Index> group_by_taste(const Dataset& dataset, Index num_groups, Rng rng) {
  expects(num_groups > 0, "there is at least one group");
  std::vector<Index> groups(dataset.user_names.size(), 0);
  if (groups.empty()) return groups;
  const UserItems users = items_of_users(dataset);
  MatrixOf<double> centers = first_centers(users, dataset.num_items(), num_groups, rng);
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    std::vector<Index> next(groups.size());
    for (Index user = 0; user < users.num_users(); ++user) {
      next[static_cast<std::size_t>(user)] = most_similar(users.of(user), centers);
    }
    if (sweep > 0 && next == groups) break;
    groups = std::move(next);
    centers = centers_of(users, groups, centers);
  }
  return groups;
}

void declare_settings(Settings& settings, PartitionConfig& config) {
  settings.add("clients.kind", config.kind,
               "who owns which users: `blocks` in their order, `random` ones, `dirichlet` by taste "
               "and unevenly (a device of the simulation, which looks at all rows), one `user` "
               "each; `given` as the file says, the default if it does");
  settings.add("clients.count", config.num_clients, at_least(1),
               "of `blocks`, `random` and `dirichlet`");
  settings.add("clients.concentration", config.concentration, above(0),
               "of `dirichlet`: small values make clients unlike each other");
  settings.add("clients.num_tastes", config.num_tastes, at_least(1),
               "of `dirichlet`: groups of users with similar items");
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
