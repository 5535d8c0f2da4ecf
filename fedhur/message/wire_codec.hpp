// A message as bytes: versioned, little-endian, bounds-checked. Every transport uses it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fedhur/message/message.hpp"
#include "fedhur/message/wire_format.hpp"

namespace fedhur::message {
inline constexpr std::uint16_t kWireVersion = 3;

[[nodiscard]] std::size_t encoded_size(const Message& message, const WireFormat& format = {});
[[nodiscard]] std::vector<std::byte> encode(const Message& message, const WireFormat& format = {});
// ProtocolError for anything that encode() would not have written, a foreign version included. The
// bytes say their format themselves.
[[nodiscard]] Message decode(std::span<const std::byte> bytes);

// What arrives at the other end: decode(encode(message, format)) without the bytes. Arrays that
// travel exactly are shared with `message`.
[[nodiscard]] Message transmit(const Message& message, const WireFormat& format);
}  // namespace fedhur::message
