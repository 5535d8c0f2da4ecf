// Messages of any size for carriers that take small pieces only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fedhur/base/checksum.hpp"

namespace fedhur::transport {
// Small enough that a core's cache holds it while it is copied, encrypted and sent.
inline constexpr std::size_t kPieceBytes = std::size_t{128} << 10U;
inline constexpr std::size_t kLargestPiece = std::size_t{512} << 10U;  // that is taken

struct Piece {
  std::uint64_t total_size = 0;  // of the message
  std::uint64_t offset = 0;      // of the payload in it
  std::span<const std::byte> payload;
  std::span<const std::byte> digest;  // of the message; in its first piece only
};

// Cuts a message, which must outlive the pieces; so must this. An empty message is one empty piece.
class Splitter {
 public:
  explicit Splitter(std::span<const std::byte> message);
  // For a message whose digest is known.
  Splitter(std::span<const std::byte> message, const Checksum::Digest& digest);
  [[nodiscard]] std::optional<Piece> next();

 private:
  std::span<const std::byte> message_;
  Checksum::Digest digest_;
  std::size_t offset_ = 0;
  bool is_done_ = false;
};

// Puts pieces together again, one message after the other.
class Assembler {
 public:
  explicit Assembler(std::uint64_t largest_message) : largest_message_(largest_message) {}

  // The message, when this was its last piece. ProtocolError for a piece that does not follow the
  // one before, for a message that is too large and for one that is not what its digest says; then
  // nothing more can be added. Whatever the first piece promises, memory is taken for twice as
  // much as has arrived, or for 4 MiB.
  [[nodiscard]] std::optional<std::vector<std::byte>> add(const Piece& piece);
  [[nodiscard]] bool is_between_messages() const { return !checksum_; }

 private:
  void begin(const Piece& piece);

  std::uint64_t largest_message_;
  std::uint64_t total_size_ = 0;
  Checksum::Digest expected_{};
  std::optional<Checksum> checksum_;  // of what has arrived; none between two messages
  std::vector<std::byte> message_;
};
}  // namespace fedhur::transport
