#include "fedhur/transport/network/chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fedhur/base/error.hpp"

namespace fedhur::transport {
namespace {
// Room that a first piece's word is enough for: most messages are not moved while they grow.
constexpr std::uint64_t kTrusted = std::uint64_t{4} << 20U;
static_assert(kTrusted >= kLargestPiece);
}  // namespace

Splitter::Splitter(std::span<const std::byte> message) : Splitter(message, checksum_of(message)) {}

Splitter::Splitter(std::span<const std::byte> message, const Checksum::Digest& digest)
    : message_(message), digest_(digest) {}

std::optional<Piece> Splitter::next() {
  if (is_done_) return std::nullopt;
  const auto rest = message_.subspan(offset_);
  Piece piece{.total_size = message_.size(),
              .offset = offset_,
              .payload = rest.first(std::min(rest.size(), kPieceBytes)),
              .digest = {}};
  if (offset_ == 0) piece.digest = digest_;
  offset_ += piece.payload.size();
  is_done_ = offset_ == message_.size();
  return piece;
}

void Assembler::begin(const Piece& piece) {
  if (piece.offset != 0) {
    throw ProtocolError(
        fmt::format("a message begins at byte {}, expected its first piece", piece.offset));
  }
  if (piece.total_size > largest_message_) {
    throw ProtocolError(fmt::format("a message of {} bytes, expected at most {}", piece.total_size,
                                    largest_message_));
  }
  if (piece.digest.size() != expected_.size()) {
    throw ProtocolError(
        fmt::format("the first piece of a message has a digest of {} bytes, "
                    "expected {}",
                    piece.digest.size(), expected_.size()));
  }
  std::ranges::copy(piece.digest, expected_.begin());
  total_size_ = piece.total_size;
  message_ = {};
  checksum_.emplace();
}

std::optional<std::vector<std::byte>> Assembler::add(const Piece& piece) {
  if (is_between_messages()) {
    begin(piece);
  } else if (!piece.digest.empty() || piece.offset != message_.size() ||
             piece.total_size != total_size_) {
    throw ProtocolError(
        fmt::format("a piece at byte {} of a message of {}, expected the one at {} of {}",
                    piece.offset, piece.total_size, message_.size(), total_size_));
  }
  const std::size_t size = piece.payload.size();
  if (size > kLargestPiece || size > total_size_ - message_.size() ||
      (size == 0 && total_size_ > 0)) {
    throw ProtocolError(
        fmt::format("a piece of {} bytes at {} of a message of {}, expected 1 to {}", size,
                    message_.size(), total_size_, kLargestPiece));
  }
  if (message_.capacity() < message_.size() + size) {
    message_.reserve(std::min<std::uint64_t>(
        total_size_, std::max<std::uint64_t>(kTrusted, 2 * message_.size())));
  }
  message_.insert(message_.end(), piece.payload.begin(), piece.payload.end());
  checksum_->update(piece.payload);
  if (message_.size() < total_size_) return std::nullopt;
  if (checksum_->digest() != expected_) {
    throw ProtocolError(
        fmt::format("a message of {} bytes does not match its digest", total_size_));
  }
  checksum_.reset();
  return std::exchange(message_, {});
}
}  // namespace fedhur::transport
