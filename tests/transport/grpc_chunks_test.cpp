#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fedhur/base/error.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/transport/network/chunks.hpp"

namespace fedhur::transport {
namespace {
using Message = std::vector<std::byte>;
constexpr std::uint64_t kLargest = 10'000'000;

Message random_message(std::size_t size, std::uint64_t seed = 1) {
  Rng rng(seed);
  Message message(size);
  for (std::byte& byte : message) byte = static_cast<std::byte>(rng.next());
  return message;
}

// A piece that owns what it points to, so that tests can change it.
struct OwnPiece {
  std::uint64_t total_size = 0;
  std::uint64_t offset = 0;
  Message payload;
  Message digest;
  [[nodiscard]] Piece view() const {
    return {.total_size = total_size, .offset = offset, .payload = payload, .digest = digest};
  }
};

std::vector<OwnPiece> pieces_of(const Message& message) {
  std::vector<OwnPiece> pieces;
  Splitter splitter(message);
  while (const auto piece = splitter.next()) {
    pieces.push_back({.total_size = piece->total_size,
                      .offset = piece->offset,
                      .payload = {piece->payload.begin(), piece->payload.end()},
                      .digest = {piece->digest.begin(), piece->digest.end()}});
  }
  return pieces;
}

// The message if the last piece ends it; expects that no earlier one does.
std::optional<Message> assemble(Assembler& assembler, const std::vector<OwnPiece>& pieces) {
  std::optional<Message> message;
  for (const OwnPiece& piece : pieces) {
    EXPECT_FALSE(message);
    message = assembler.add(piece.view());
  }
  return message;
}

std::string refusal_of(const std::vector<OwnPiece>& pieces, std::uint64_t largest = kLargest) {
  Assembler assembler(largest);
  try {
    (void)assemble(assembler, pieces);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "";
}

TEST(Chunks, PutTogetherAreTheMessage) {
  Assembler assembler(kLargest);  // one for all: messages follow each other
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kPieceBytes - 1, kPieceBytes,
                                 kPieceBytes + 1, 3 * kPieceBytes, 4 * kPieceBytes + 7}) {
    const Message message = random_message(size, size);
    const auto pieces = pieces_of(message);
    EXPECT_EQ(pieces.size(), std::max<std::size_t>(1, (size + kPieceBytes - 1) / kPieceBytes));
    for (const OwnPiece& piece : pieces) EXPECT_LE(piece.payload.size(), kPieceBytes);
    EXPECT_TRUE(assembler.is_between_messages());
    EXPECT_EQ(assemble(assembler, pieces), message) << size;
  }
}

TEST(Chunks, OfAnySizeAreTaken) {
  const Message message = random_message(1000);
  OwnPiece piece = pieces_of(message).front();
  Assembler assembler(kLargest);
  for (std::size_t offset = 0; offset < message.size(); offset += 250) {
    piece.offset = offset;
    const auto first = message.begin() + static_cast<std::ptrdiff_t>(offset);
    piece.payload = {first, first + 250};
    const auto whole = assembler.add(piece.view());
    EXPECT_EQ(whole.has_value(), offset == 750);
    EXPECT_EQ(assembler.is_between_messages(), offset == 750);
    piece.digest.clear();
  }
}

TEST(Chunks, OutOfOrderAreRefused) {
  const auto pieces = pieces_of(random_message(3 * kPieceBytes));
  EXPECT_THAT(refusal_of({pieces[1]}), testing::HasSubstr("expected its first piece"));
  EXPECT_THAT(refusal_of({pieces[0], pieces[2]}), testing::HasSubstr("expected the one at 131072"));
  EXPECT_THAT(refusal_of({pieces[0], pieces[1], pieces[1]}), testing::HasSubstr("at byte 131072"));
  EXPECT_NE(refusal_of({pieces[0], pieces[0]}), "");
  OwnPiece other_total = pieces[1];
  other_total.total_size += 1;
  EXPECT_NE(refusal_of({pieces[0], other_total}), "");
}

TEST(Chunks, OfAMessageThatIsTooLargeAreRefusedBeforeAnythingIsStored) {
  const auto pieces = pieces_of(random_message(100));
  EXPECT_EQ(refusal_of(pieces, 100), "");
  EXPECT_EQ(refusal_of(pieces, 99), "a message of 100 bytes, expected at most 99");
  OwnPiece boast = pieces.front();
  boast.total_size = ~std::uint64_t{0};
  EXPECT_NE(refusal_of({boast}), "");
  // Within the limit, a promise costs nothing: this would not fit into any memory.
  EXPECT_EQ(refusal_of({boast}, ~std::uint64_t{0}), "");
}

TEST(Chunks, LongerThanTheirMessageAreRefused) {
  auto pieces = pieces_of(random_message(100));
  pieces.front().total_size = 99;
  EXPECT_THAT(refusal_of(pieces),
              testing::HasSubstr("a piece of 100 bytes at 0 of a message of 99"));
}

TEST(Chunks, WithoutPayloadOrWithTooMuchAreRefused) {
  auto empty = pieces_of(random_message(100));
  empty.front().payload.clear();
  EXPECT_NE(refusal_of(empty), "") << "they could go on for ever";
  auto large = pieces_of(random_message(2 * kLargestPiece));
  large.front().payload.resize(kLargestPiece);
  EXPECT_EQ(refusal_of({large.front()}), "");
  large.front().payload.push_back(std::byte{});
  EXPECT_THAT(refusal_of({large.front()}), testing::HasSubstr("expected 1 to 524288"));
}

TEST(Chunks, ThatDoNotMatchTheDigestAreRefused) {
  auto pieces = pieces_of(random_message(2 * kPieceBytes));
  pieces.back().payload.back() ^= std::byte{1};
  EXPECT_EQ(refusal_of(pieces), "a message of 262144 bytes does not match its digest");
  auto short_digest = pieces_of(random_message(10));
  short_digest.front().digest.pop_back();
  EXPECT_THAT(refusal_of(short_digest), testing::HasSubstr("a digest of 15 bytes, expected 16"));
  auto late_digest = pieces_of(random_message(2 * kPieceBytes));
  late_digest[1].digest = late_digest[0].digest;
  EXPECT_NE(refusal_of(late_digest), "");
}
}  // namespace
}  // namespace fedhur::transport
