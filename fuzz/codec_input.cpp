#include "fuzz/codec_input.hpp"

#include <algorithm>
#include <stdexcept>

#include "fedhur/message/wire_codec.hpp"

namespace fedhur::fuzz {
void codec_input(std::span<const std::uint8_t> input) {
  const auto bytes = std::as_bytes(input);
  message::Message message;
  try {
    message = message::decode(bytes);
  } catch (const ProtocolError&) {
    return;
  }
  if (!std::ranges::equal(message::encode(message), bytes)) {
    throw std::logic_error("a message was taken that says something else than its bytes");
  }
}
}  // namespace fedhur::fuzz
