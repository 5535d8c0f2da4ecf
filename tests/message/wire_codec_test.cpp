#include "fedhur/message/wire_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuzz/codec_input.hpp"
#include "tests/support/corpus.hpp"
#include "tests/support/support.hpp"

namespace fedhur::message {
namespace {
Message example() {
  Message message{.kind = "train", .round = 12, .arrays = {}};
  message.arrays.set("item_embeddings", tests::random_matrix(5, 3, 1));
  message.arrays.set_number("num_interactions", 17);
  return message;
}

TEST(WireCodec, BringsAMessageBackAsItWas) {
  const Message message = example();
  const auto bytes = encode(message);
  EXPECT_EQ(bytes.size(), encoded_size(message));
  const Message decoded = decode(bytes);
  EXPECT_EQ(decoded.kind, "train");
  EXPECT_EQ(decoded.round, 12);
  EXPECT_EQ(decoded.arrays.matrix("item_embeddings"), message.arrays.matrix("item_embeddings"));
  EXPECT_EQ(encode(decoded), bytes);
}

TEST(WireCodec, RefusesTruncatedAndLongerBytes) {
  auto bytes = encode(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW((void)decode(std::span(bytes).first(size)), ProtocolError) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_THROW((void)decode(bytes), ProtocolError);
}

TEST(WireCodec, SaysWhichSideToUpgradeOnAForeignVersion) {
  auto bytes = encode(example());
  bytes[4] = std::byte{99};
  try {
    (void)decode(bytes);
    FAIL() << "a foreign version was taken";
  } catch (const ProtocolError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("upgrade the receiver"));
  }
}

TEST(WireCodec, NeverCrashesOnFlippedBytes) {
  const auto good = encode(example());
  Rng rng(4);
  for (int trial = 0; trial < 5000; ++trial) {
    auto bytes = good;
    for (int flips = 0; flips < 3; ++flips) {
      bytes[rng.below(bytes.size())] = static_cast<std::byte>(rng.below(256));
    }
    try {
      const Message message = decode(bytes);
      EXPECT_EQ(encode(message), bytes);  // what is taken says exactly what was sent
    } catch (const ProtocolError&) {
      // refused, as most are
    }
  }
}

TEST(WireCodec, TakesTheFuzzersSeedsWithoutAFinding) {
  EXPECT_GE(tests::replay_corpus("codec", fuzz::codec_input), 14);
}
}  // namespace
}  // namespace fedhur::message
