#include "apps/doctor/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fedhur::apps {
namespace {
// Numbers that a method keeps per item.
Index width_of(const ConfigTable& resolved) {
  const auto& entries = resolved.resolved();
  const auto entry = std::ranges::find(entries, "model.embedding_dim", &ConfigTable::Entry::key);
  if (entry == entries.end()) return 1;  // counts of items, as of `popularity`
  const auto* const width = std::get_if<std::int64_t>(&entry->value);
  return width == nullptr ? 1 : *width;
}

SizeEstimate estimate_tables(Index tables, const char* of, Index clients, Index items,
                             const ConfigTable& resolved) {
  const Index width = width_of(resolved);
  constexpr Index kBytes = sizeof(float);
  return {.bytes = static_cast<double>(tables * kBytes) * static_cast<double>(clients) *
                   static_cast<double>(items) * static_cast<double>(width),
          .reckoning = fmt::format("{} tables ({}) x {} clients x {} items x {} numbers x {} bytes",
                                   tables, of, clients, items, width, kBytes)};
}
}  // namespace

SizeEstimate estimate_server(Index clients, Index items, const ConfigTable& resolved) {
  // Most methods send one table of items a round; that of neural networks sends two.
  return estimate_tables(2, "a round's replies", clients, items, resolved);
}

SizeEstimate estimate_site(Index clients, Index items, const ConfigTable& resolved) {
  // A table of items, two moments of its optimiser and the best table so far; the same once more
  // while a newer state replaces the older, and about as much for the tasks between two states.
  return estimate_tables(12, "states and tasks", clients, items, resolved);
}
}  // namespace fedhur::apps
