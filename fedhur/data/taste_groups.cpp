#include "fedhur/data/taste_groups.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/error.hpp"
#include "fedhur/base/matrix.hpp"

namespace fedhur::data {
namespace {
constexpr int kMaxSweeps = 20;

UserItems items_of_users(const Dataset& dataset) {
  std::vector<std::vector<ItemId>> lists(dataset.user_names.size());
  for (const Interaction& row : dataset.interactions) {
    lists[static_cast<std::size_t>(index_of(row.user))].push_back(row.item);
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
}  // namespace fedhur::data
