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

void Checksum::Free::operator()(XXH3_state_s* state) const { (void)XXH3_freeState(state); }

Checksum::Checksum() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  (void)XXH3_128bits_reset(state_.get());  // fails for null alone
}

void Checksum::update(std::span<const std::byte> bytes) {
  (void)XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

Checksum::Digest Checksum::digest() const { return to_digest(XXH3_128bits_digest(state_.get())); }

Checksum::Digest checksum_of(std::span<const std::byte> bytes) {
  return to_digest(XXH3_128bits(bytes.data(), bytes.size()));
}
}  // namespace fedhur
