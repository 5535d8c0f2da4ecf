#include "fedhur/base/hash.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace fedhur {
namespace {
void must(int result) {
  if (result != 1) throw std::runtime_error("OpenSSL could not compute SHA-256");
}
}  // namespace

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> md{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  must(EVP_DigestInit_ex(context_->md.get(), EVP_sha256(), nullptr));
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  must(EVP_DigestUpdate(context_->md.get(), bytes.data(), bytes.size()));
}

Sha256::Digest Sha256::digest() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned length = 0;
  must(EVP_DigestFinal_ex(context_->md.get(), bytes.data(), &length));
  Digest result{};
  std::memcpy(result.data(), bytes.data(), result.size());
  return result;
}

std::string Sha256::hex() {
  std::string text;
  for (const std::byte byte : digest()) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}
}  // namespace fedhur
