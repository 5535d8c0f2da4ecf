// What the fuzzer and the test of its corpus do with one input.
#pragma once
#include <cstdint>
#include <span>

namespace fedhur::fuzz {
// The first byte says what the rest is: '0' a certificate, '1' a request, '2' a revocation list,
// all in DER, which is put into PEM; anything else is text that any of them is read from. A
// DataError is a fine answer. A std::logic_error is a finding: a stranger is trusted, or what was
// read breaks a promise.
void pki_input(std::span<const std::uint8_t> input);
}  // namespace fedhur::fuzz
