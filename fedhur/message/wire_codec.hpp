// A message as bytes: versioned, little-endian, bounds-checked. Every transport uses it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fedhur/message/message.hpp"

namespace fedhur::message {
inline constexpr std::uint16_t kWireVersion = 1;

[[nodiscard]] std::size_t encoded_size(const Message& message);
[[nodiscard]] std::vector<std::byte> encode(const Message& message);
// ProtocolError for anything that encode() would not have written, a foreign version included.
[[nodiscard]] Message decode(std::span<const std::byte> bytes);
}  // namespace fedhur::message
