// Finds what was damaged on the way or on disk, many times faster than a cryptographic hash: it
// protects against accidents, not against people. For those there is TLS, and Sha256.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace fedhur {
// XXH3 with 128 bits.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;
  void update(std::span<const std::byte> bytes);
  using Digest = std::array<std::byte, 16>;
  [[nodiscard]] Digest digest() const;  // of all so far

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

[[nodiscard]] Checksum::Digest checksum_of(std::span<const std::byte> bytes);
}  // namespace fedhur
