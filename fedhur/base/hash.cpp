#include "fedhur/base/hash.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace fedhur {
std::string sha256_hex(std::span<const std::byte> bytes) {
  std::array<unsigned char, 32> digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL could not compute SHA-256");
  }
  return fmt::format("{:02x}", fmt::join(digest, ""));
}
}  // namespace fedhur
