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

class WireCodecIn : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(All, WireCodecIn,
                         testing::Values(Precision::float32, Precision::float16, Precision::int8),
                         [](const auto& precision) { return name_of(precision.param); });

TEST_P(WireCodecIn, RefusesTruncatedAndLongerBytes) {
  auto bytes = encode(example(), {GetParam()});
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

TEST_P(WireCodecIn, NeverCrashesOnFlippedBytes) {
  const auto good = encode(example(), {GetParam()});
  Rng rng(4);
  for (int trial = 0; trial < 5000; ++trial) {
    auto bytes = good;
    for (int flips = 0; flips < 3; ++flips) {
      bytes[rng.below(bytes.size())] = static_cast<std::byte>(rng.below(256));
    }
    // Most are refused; what is taken says exactly what was sent.
    const auto* const first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    EXPECT_NO_THROW(fuzz::codec_input({first, bytes.size()}));
  }
}

TEST_P(WireCodecIn, KeepsDoublesIntegersAndItsPromiseOfSize) {
  Message message = example();
  message.arrays.set("doubles", MatrixOf<double>(MatrixOf<double>::Constant(1, 3, 0.1)));
  message.arrays.set("integers",
                     MatrixOf<std::int32_t>(MatrixOf<std::int32_t>::Constant(2, 2, 123456789)));
  const auto bytes = encode(message, {GetParam()});
  EXPECT_EQ(bytes.size(), encoded_size(message, {GetParam()}));
  const Message decoded = decode(bytes);
  for (const char* name : {"doubles", "integers", "num_interactions"}) {
    EXPECT_TRUE(is_same(*decoded.arrays.find(name), *message.arrays.find(name))) << name;
  }
  EXPECT_EQ(encoded_size(decoded, {GetParam()}), bytes.size()) << "counted where it arrives";
}

TEST(WireCodec, ShrinksATableToSevenEighthsAHalfAndAboutAQuarter) {
  Message message{.kind = "train", .round = 0, .arrays = {}};
  const std::size_t frame = encoded_size(message);
  message.arrays.set("m", Matrix(Matrix::Constant(10, 128, 0.1F)));
  const std::size_t head = frame + 1 + 1 + 1 + 8;  // "m", its type and sides
  EXPECT_EQ(encoded_size(message) - head, 10U * (128 * 7 / 2 + 2));
  EXPECT_EQ(encoded_size(message, {Precision::float16}) - head, 10U * 128 * 2);
  EXPECT_EQ(encoded_size(message, {Precision::int8}) - head, 10U * (128 + 2 * 4));
}

TEST(WireCodec, RefusesAMessageThatItsOwnFormatWouldWriteOtherwise) {
  // The seeds with these names; here it is said that they are refused, not only survived.
  for (const char* name : {"halves_beside_what_would_fit",
                           "halves_and_blocks",
                           "half_infinity",
                           "blocks_truncated",
                           "block_without_its_largest",
                           "block_of_minus_128",
                           "block_of_not_a_number",
                           "blocks_huge_claim",
                           "unknown_type",
                           "as_before_without_before",
                           "packed_not_smaller",
                           "not_packed_though_smaller",
                           "packed_exponent_of_nobody",
                           "packed_exponent_below_zero",
                           "packed_zero_within_reach",
                           "packed_padding",
                           "packed_exception_within_reach",
                           "packed_exception_of_zero",
                           "packed_exception_of_another_sign",
                           "packed_exception_missing",
                           "packed_special_unknown",
                           "packed_truncated",
                           "packed_huge_claim",
                           "packed_without_columns",
                           "packed_beside_halves_that_would_fit",
                           "sparse_outside",
                           "sparse_long_number",
                           "sparse_of_65_bits",
                           "sparse_huge_claim",
                           "sparse_huge_sides",
                           "sparse_truncated"}) {
    const auto path = std::filesystem::path(FEDHUR_SOURCE_DIR) / "tests/corpus/codec" / name;
    EXPECT_THROW((void)decode(read_file(path)), ProtocolError) << name;
  }
  for (const char* name :
       {"halves", "blocks", "blocks_of_a_long_row", "blocks_without_columns",
        "halves_beside_what_does_not_fit", "one_of_each_type", "packed", "packed_odd",
        "packed_zeros", "packed_denormals", "packed_two_blocks_with_exceptions",
        "packed_beside_halves", "sparse", "sparse_empty", "sparse_extremes"}) {
    const auto path = std::filesystem::path(FEDHUR_SOURCE_DIR) / "tests/corpus/codec" / name;
    EXPECT_NO_THROW((void)decode(read_file(path))) << name;
  }
}

TEST(WireCodec, TakesTheFuzzersSeedsWithoutAFinding) {
  EXPECT_GE(tests::replay_corpus("codec", fuzz::codec_input), 57);
}
}  // namespace
}  // namespace fedhur::message
