// Finds what was damaged on the way or on disk, many times faster than a cryptographic hash: it
// protects against accidents, not against people. For those there is TLS, and SHA-256.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>

struct XXH3_state_s;  // of xxhash.h

namespace fedhur {
// XXH3 with 128 bits.
class Checksum {
 public:
  Checksum();
  void update(std::span<const std::byte> bytes);
  using Digest = std::array<std::byte, 16>;
  [[nodiscard]] Digest digest() const;  // of all so far

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

[[nodiscard]] Checksum::Digest checksum_of(std::span<const std::byte> bytes);
}  // namespace fedhur
