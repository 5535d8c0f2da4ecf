// Strong ids for borders; inside loops they become plain Index through index_of.
#pragma once
#include <cstdint>
#include <type_traits>

#include "fedhur/base/index.hpp"

namespace fedhur {
enum class UserId : std::uint32_t {};
enum class ItemId : std::uint32_t {};
enum class ClientId : std::uint32_t {};
using Round = std::int64_t;  // 0-based

template <class Id>
requires std::is_enum_v<Id>
[[nodiscard]] constexpr Index index_of(Id id) {
  return static_cast<Index>(static_cast<std::uint32_t>(id));
}
[[nodiscard]] constexpr ItemId item_id(Index index) { return static_cast<ItemId>(index); }
[[nodiscard]] constexpr UserId user_id(Index index) { return static_cast<UserId>(index); }
[[nodiscard]] constexpr ClientId client_id(Index index) { return static_cast<ClientId>(index); }
}  // namespace fedhur
