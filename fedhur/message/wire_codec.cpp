#include "fedhur/message/wire_codec.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fedhur::message {
namespace {
constexpr std::uint32_t kMagic = 0x314d4846;  // "FHM1"

bool is_kind(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}
}  // namespace

std::size_t encoded_size(const Message& message) {
  return sizeof(kMagic) + sizeof(kWireVersion) + 1 + message.kind.size() + sizeof(std::int64_t) +
         fedhur::encoded_size(message.arrays);
}

std::vector<std::byte> encode(const Message& message) {
  expects(is_kind(message.kind), "a kind is a lower-case word");
  ByteWriter writer(encoded_size(message));
  writer.put(kMagic);
  writer.put(kWireVersion);
  writer.put_name(message.kind);
  writer.put(static_cast<std::int64_t>(message.round));
  fedhur::encode(message.arrays, writer);
  return writer.finish();
}

Message decode(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  if (reader.get<std::uint32_t>() != kMagic) throw ProtocolError("these bytes are not a message");
  const auto version = reader.get<std::uint16_t>();
  if (version != kWireVersion) {
    throw ProtocolError(fmt::format("the message has wire version {}, expected {}: upgrade the {}",
                                    version, kWireVersion,
                                    version < kWireVersion ? "sender" : "receiver"));
  }
  Message message;
  message.kind = reader.get_name();
  if (!is_kind(message.kind)) throw ProtocolError("the message's kind is not a lower-case word");
  message.round = reader.get<std::int64_t>();
  if (message.round < 0) throw ProtocolError("the message's round is negative");
  message.arrays = decode_arrays(reader);
  if (reader.remaining() != 0) {
    throw ProtocolError(fmt::format("{} bytes follow the message's end", reader.remaining()));
  }
  return message;
}
}  // namespace fedhur::message
