// Item groups from coarse to fine, as server and clients both see them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "fedhur/base/matrix.hpp"

namespace fedhur::linalg {
// Sibling groups that share one filter. Members are lists of items, ascending, one after the other.
struct Scope {
  Index level = 0;             // 0 is the coarsest
  Index parent = -1;           // the scope whose member this one divides; -1 at level 0
  Index member = -1;           // which of the parent's members
  std::vector<Index> items;    // of all members
  std::vector<Index> offsets;  // member b is items[offsets[b]] .. items[offsets[b + 1] - 1]

  [[nodiscard]] Index num_members() const { return static_cast<Index>(offsets.size()) - 1; }
  [[nodiscard]] std::span<const Index> member_items(Index b) const {
    const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(b)]);
    const auto end = static_cast<std::size_t>(offsets[static_cast<std::size_t>(b) + 1]);
    return std::span(items).subspan(begin, end - begin);
  }
  // Every member is a single item.
  [[nodiscard]] bool is_of_items() const { return items.size() + 1 == offsets.size(); }
};

// Scopes level by level, within a level in the order of their parents: a scope's position is its
// identity.
struct ItemHierarchy {
  Index num_items = 0;
  std::vector<Scope> scopes;

  [[nodiscard]] Index num_scopes() const { return static_cast<Index>(scopes.size()); }
  [[nodiscard]] Index num_levels() const { return scopes.empty() ? 0 : scopes.back().level + 1; }
  // The members of all scopes: the rows of a projected query.
  [[nodiscard]] Index num_members() const;
  // The numbers of one packed symmetric matrix per scope.
  [[nodiscard]] Index num_packed() const;
};

// As it is sent: a column per level, the member of its scope that an item belongs to. A last level
// of single items needs no column.
struct HierarchyTable {
  MatrixOf<std::int32_t> members;  // num_items x levels
  bool ends_with_items = false;
};
[[nodiscard]] HierarchyTable to_table(const ItemHierarchy& hierarchy);
// ProtocolError unless the table describes a hierarchy: in every scope, members 0 to m - 1 with an
// item each.
[[nodiscard]] ItemHierarchy from_table(const MatrixOf<std::int32_t>& members, bool ends_with_items);
[[nodiscard]] inline ItemHierarchy from_table(const HierarchyTable& table) {
  return from_table(table.members, table.ends_with_items);
}

// One level: the only scope, whose members are all items.
[[nodiscard]] ItemHierarchy hierarchy_of_items(Index num_items);

// Z of one scope: row b is the mean of the embeddings of the items of member b.
[[nodiscard]] Matrix average_groups(ConstMatrixRef item_embeddings, const Scope& scope);
// Z of every scope of groups, in one pass over the items; empty for scopes of items, whose Z are
// the items' own rows.
[[nodiscard]] std::vector<Matrix> average_all_groups(ConstMatrixRef item_embeddings,
                                                     const ItemHierarchy& hierarchy);
}  // namespace fedhur::linalg
