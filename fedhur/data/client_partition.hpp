// Which client owns which users.
#pragma once
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/data/interactions.hpp"

namespace fedhur::data {
enum class PartitionKind : std::uint8_t {
  given,      // as the file says (format `split`)
  blocks,     // runs of users in their order; the last client takes the remainder as well
  random,     // blocks of a shuffled order
  dirichlet,  // users are grouped by taste; each taste spreads over the clients unevenly
  user,       // one user per client
};
constexpr auto names_of(PartitionKind) {
  return std::array{"given", "blocks", "random", "dirichlet", "user"};
}

struct PartitionConfig {
  PartitionKind kind = PartitionKind::blocks;
  Index num_clients = 100;
  double concentration = 0.5;  // of dirichlet
  Index num_tastes = 10;       // of dirichlet
};
void declare_settings(Settings& settings, PartitionConfig& config);

// Owner of every user. No client is empty. ConfigError if there are fewer users than clients, and
// for `given` without clients in the data. num_clients counts for blocks, random and dirichlet
// alone.
//
// dirichlet exists for simulations: it looks at all rows of all users, test rows included,
// to assign users to clients, which a real federation could not. It has no effect on training.
[[nodiscard]] std::vector<ClientId> partition(const Dataset& dataset, const PartitionConfig& config,
                                              const Rng& rng);
// Spherical k-means on the users' sets of items: the group of every user, below num_groups. A group
// may stay empty.
[[nodiscard]] std::vector<Index> group_by_taste(const Dataset& dataset, Index num_groups, Rng rng);
}  // namespace fedhur::data
