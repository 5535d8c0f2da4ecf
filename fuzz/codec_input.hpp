// What the fuzzer and the test of its corpus do with one input.
#pragma once
#include <cstdint>
#include <span>

namespace fedhur::fuzz {
// Bytes that arrive from outside as a message. A ProtocolError is a fine answer; a message that in
// no precision encodes to the very bytes it came from is a std::logic_error, a finding.
void codec_input(std::span<const std::uint8_t> input);
}  // namespace fedhur::fuzz
