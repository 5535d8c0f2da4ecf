#include "fuzz/codec_input.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "fedhur/message/wire_codec.hpp"

namespace fedhur::fuzz {
void codec_input(std::span<const std::uint8_t> input) {
  using message::Precision;
  const auto bytes = std::as_bytes(input);
  message::Message message;
  try {
    message = message::decode(bytes);
  } catch (const ProtocolError&) {
    return;
  }
  const auto says_the_same = [&](Precision precision) {
    return std::ranges::equal(message::encode(message, {precision}), bytes);
  };
  constexpr std::array kAll = {Precision::float32, Precision::float16, Precision::int8};
  if (std::ranges::none_of(kAll, says_the_same)) {
    throw std::logic_error("a message was taken that says something else than its bytes");
  }
}
}  // namespace fedhur::fuzz
