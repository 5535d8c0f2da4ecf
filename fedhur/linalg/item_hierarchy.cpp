#include "fedhur/linalg/item_hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fedhur/base/error.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::linalg {
namespace {
// Divides `items` (ascending) by the member that each is said to belong to.
template <class MemberOf>
Scope divide(Scope scope, std::span<const Index> items, const MemberOf& member_of) {
  Index num_members = 0;
  for (const Index item : items) {
    const Index member = member_of(item);
    if (member < 0 || member >= static_cast<Index>(items.size())) {
      throw ProtocolError(
          fmt::format("item {} is in group {} of a scope of {} items", item, member, items.size()));
    }
    num_members = std::max(num_members, member + 1);
  }
  scope.offsets.assign(static_cast<std::size_t>(num_members) + 1, 0);
  for (const Index item : items) ++scope.offsets[static_cast<std::size_t>(member_of(item)) + 1];
  for (std::size_t b = 1; b < scope.offsets.size(); ++b) {
    if (scope.offsets[b] == 0) {
      throw ProtocolError(fmt::format("group {} of level {} has no items", b - 1, scope.level));
    }
    scope.offsets[b] += scope.offsets[b - 1];
  }
  std::vector<Index> next(scope.offsets.begin(), scope.offsets.end() - 1);
  scope.items.resize(items.size());
  for (const Index item : items) {
    scope.items[static_cast<std::size_t>(next[static_cast<std::size_t>(member_of(item))]++)] = item;
  }
  return scope;
}
}  // namespace

Index ItemHierarchy::num_members() const {
  Index sum = 0;
  for (const Scope& scope : scopes) sum += scope.num_members();
  return sum;
}

Index ItemHierarchy::num_packed() const {
  Index sum = 0;
  for (const Scope& scope : scopes) sum += packed_size(scope.num_members());
  return sum;
}

HierarchyTable to_table(const ItemHierarchy& hierarchy) {
  HierarchyTable table;
  const Index num_levels = hierarchy.num_levels();
  // Items without a column are read back in ascending order.
  table.ends_with_items =
      std::all_of(hierarchy.scopes.begin(), hierarchy.scopes.end(), [&](const Scope& scope) {
        return scope.level + 1 < num_levels ||
               (scope.is_of_items() && std::is_sorted(scope.items.begin(), scope.items.end()));
      });
  table.members.setZero(hierarchy.num_items, num_levels - (table.ends_with_items ? 1 : 0));
  for (const Scope& scope : hierarchy.scopes) {
    if (scope.level >= table.members.cols()) continue;
    for (Index b = 0; b < scope.num_members(); ++b) {
      for (const Index item : scope.member_items(b)) {
        table.members(item, scope.level) = static_cast<std::int32_t>(b);
      }
    }
  }
  return table;
}

ItemHierarchy from_table(const MatrixOf<std::int32_t>& members, bool ends_with_items) {
  const Index num_items = members.rows();
  const Index num_levels = members.cols() + (ends_with_items ? 1 : 0);
  if (num_items < 1 || num_levels < 1) throw ProtocolError("the item hierarchy is empty");
  ItemHierarchy hierarchy{.num_items = num_items, .scopes = {}};
  std::vector<Index> all(static_cast<std::size_t>(num_items));
  std::iota(all.begin(), all.end(), Index{0});
  Index first_of_level = 0;
  for (Index level = 0; level < num_levels; ++level) {
    const auto divide_items = [&](Scope scope, std::span<const Index> items) {
      if (level < members.cols()) {
        return divide(std::move(scope), items,
                      [&](Index item) { return Index{members(item, level)}; });
      }
      scope.items.assign(items.begin(), items.end());
      scope.offsets.resize(items.size() + 1);
      std::iota(scope.offsets.begin(), scope.offsets.end(), Index{0});
      return scope;
    };
    if (level == 0) {
      hierarchy.scopes.push_back(divide_items({}, all));
      continue;
    }
    const Index end = hierarchy.num_scopes();
    for (Index parent = first_of_level; parent < end; ++parent) {
      const Index num_members = hierarchy.scopes[static_cast<std::size_t>(parent)].num_members();
      for (Index member = 0; member < num_members; ++member) {
        Scope scope;
        scope.level = level;
        scope.parent = parent;
        scope.member = member;
        Scope child =
            divide_items(std::move(scope),
                         hierarchy.scopes[static_cast<std::size_t>(parent)].member_items(member));
        hierarchy.scopes.push_back(std::move(child));
      }
    }
    first_of_level = end;
  }
  return hierarchy;
}

ItemHierarchy hierarchy_of_items(Index num_items) {
  return from_table(MatrixOf<std::int32_t>(num_items, 0), true);
}

Matrix average_groups(ConstMatrixRef item_embeddings, const Scope& scope) {
  if (scope.is_of_items()) return item_embeddings(scope.items, Eigen::all);
  MatrixOf<double> sums = MatrixOf<double>::Zero(scope.num_members(), item_embeddings.cols());
  for (Index b = 0; b < scope.num_members(); ++b) {
    const auto items = scope.member_items(b);
    for (const Index item : items) sums.row(b) += item_embeddings.row(item).cast<double>();
    sums.row(b) /= static_cast<double>(items.size());
  }
  return sums.cast<Real>();
}

std::vector<Matrix> average_all_groups(ConstMatrixRef item_embeddings,
                                       const ItemHierarchy& hierarchy) {
  std::vector<MatrixOf<double>> sums(hierarchy.scopes.size());
  for (Index s = hierarchy.num_scopes() - 1; s >= 0; --s) {  // the finest first
    const Scope& scope = hierarchy.scopes[static_cast<std::size_t>(s)];
    auto& own = sums[static_cast<std::size_t>(s)];
    if (own.size() == 0 && !scope.is_of_items()) {  // no finer scope has added to it
      own.setZero(scope.num_members(), item_embeddings.cols());
      for (Index b = 0; b < scope.num_members(); ++b) {
        for (const Index item : scope.member_items(b)) {
          own.row(b) += item_embeddings.row(item).cast<double>();
        }
      }
    }
    if (scope.parent < 0) continue;
    const Scope& above = hierarchy.scopes[static_cast<std::size_t>(scope.parent)];
    if (above.is_of_items()) continue;
    auto& parent = sums[static_cast<std::size_t>(scope.parent)];
    if (parent.size() == 0) parent.setZero(above.num_members(), item_embeddings.cols());
    if (own.size() > 0) {
      parent.row(scope.member) = own.colwise().sum();
    } else {
      for (const Index item : scope.items) {
        parent.row(scope.member) += item_embeddings.row(item).cast<double>();
      }
    }
  }
  std::vector<Matrix> means(hierarchy.scopes.size());
  for (std::size_t s = 0; s < means.size(); ++s) {
    const Scope& scope = hierarchy.scopes[s];
    if (scope.is_of_items()) continue;
    for (Index b = 0; b < scope.num_members(); ++b) {
      sums[s].row(b) /= static_cast<double>(scope.member_items(b).size());
    }
    means[s] = sums[s].cast<Real>();
  }
  return means;
}
}  // namespace fedhur::linalg
