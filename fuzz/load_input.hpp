// What the fuzzer and the test of its corpus do with one input.
#pragma once
#include <cstdint>
#include <span>

namespace fedhur::fuzz {
// The first byte chooses the format ('0' automatic, '1' to '8' as in data::Format, '9' a file with
// titles), the second the options: bit 0 skips bad rows, the bits above choose the file's name. The
// rest is the file as stored. A DataError is a fine answer, a std::logic_error a finding: the
// result breaks what data::Dataset promises, or the message what a DataError should be.
void load_input(std::span<const std::uint8_t> input);
}  // namespace fedhur::fuzz
