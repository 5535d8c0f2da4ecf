// What the fuzzer and the test of its corpus do with one input.
#pragma once
#include <cstdint>
#include <span>

namespace fedhur::fuzz {
// What a site says in one connection to a server that is at work with another, honest client. The
// input is a list of steps: what to do (a byte), how many bytes belong to it (a byte), and those.
// Being sent away is a fine answer; a std::logic_error is a finding: a server that does not answer,
// that calls it its own fault, or that loses the honest client's work.
void service_input(std::span<const std::uint8_t> input);
}  // namespace fedhur::fuzz
