#include "fedhur/base/checksum.hpp"

#include <xxhash.h>

#include <cstring>
#include <new>

namespace fedhur {
namespace {
// The same bytes on every machine.
Checksum::Digest to_digest(const XXH128_hash_t& hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  Checksum::Digest digest{};
  static_assert(sizeof(canonical.digest) == digest.size());
  std::memcpy(digest.data(), canonical.digest, digest.size());
  return digest;
}
}  // namespace

struct Checksum::Context {
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state{XXH3_createState(),
                                                                 &XXH3_freeState};
};

Checksum::Checksum() : context_(std::make_unique<Context>()) {
  if (!context_->state) throw std::bad_alloc();
  (void)XXH3_128bits_reset(context_->state.get());  // fails for null alone
}
Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum& Checksum::operator=(Checksum&&) noexcept = default;

void Checksum::update(std::span<const std::byte> bytes) {
  (void)XXH3_128bits_update(context_->state.get(), bytes.data(), bytes.size());
}

Checksum::Digest Checksum::digest() const {
  return to_digest(XXH3_128bits_digest(context_->state.get()));
}

Checksum::Digest checksum_of(std::span<const std::byte> bytes) {
  return to_digest(XXH3_128bits(bytes.data(), bytes.size()));
}
}  // namespace fedhur
