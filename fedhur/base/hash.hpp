// SHA-256, for the identity of data sets and the integrity of files.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace fedhur {
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::span<const std::byte> bytes);
  using Digest = std::array<std::byte, 32>;
  [[nodiscard]] Digest digest();    // call one of these once
  [[nodiscard]] std::string hex();  // 64 lower-case digits

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);
}  // namespace fedhur
