#include "fedhur/message/packing.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "fedhur/base/parallel.hpp"
#include "fedhur/message/wire_codec.hpp"
#include "tests/support/support.hpp"

namespace fedhur::message {
namespace {
using Limits = std::numeric_limits<Real>;
using Bytes = std::vector<std::byte>;

Matrix row(const std::vector<Real>& values) {
  return Eigen::Map<const Matrix>(values.data(), 1, static_cast<Index>(values.size()));
}

Bytes packed(const Matrix& matrix) {
  ByteWriter writer;
  put_packed(matrix, writer);
  return writer.finish();
}

Matrix unpacked(const Bytes& bytes, Index cols) {
  ByteReader reader(bytes);
  Matrix matrix = take_packed(reader, 1, static_cast<std::uint32_t>(cols), "m");
  if (reader.remaining() != 0) throw ProtocolError("bytes are left");
  return matrix;
}

bool is_same_bits(const Matrix& a, const Matrix& b) {
  return is_same(std::make_shared<const Matrix>(a), std::make_shared<const Matrix>(b));
}

// A block bit by bit: codes are {sign, offset, mantissa}.
struct Code {
  std::uint32_t sign;
  std::uint32_t offset;
  std::uint32_t mantissa;
};
Bytes block(std::uint8_t exponent, const std::vector<Code>& codes,
            const std::vector<std::uint32_t>& exceptions = {}) {
  std::vector<bool> bits;
  for (const Code& code : codes) {
    const std::uint32_t all = code.sign << 27U | code.offset << 23U | code.mantissa;
    for (std::uint32_t i = 0; i < 28; ++i) bits.push_back((all >> i & 1U) != 0);
  }
  Bytes bytes(1 + (bits.size() + 7) / 8);
  bytes[0] = std::byte{exponent};
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) bytes[1 + i / 8] |= std::byte{1} << static_cast<int>(i % 8);
  }
  for (const std::uint32_t value : exceptions) {
    for (std::uint32_t i = 0; i < 32; i += 8) bytes.push_back(std::byte(value >> i & 0xffU));
  }
  return bytes;
}

// The format as its description says it, one value after the other.
Bytes pack_slowly(const Matrix& matrix) {
  Bytes bytes;
  for (Index first = 0; first < matrix.size(); first += 64) {
    const Index end = std::min(first + 64, matrix.size());
    std::uint32_t most = 0;
    for (Index i = first; i < end; ++i) {
      most = std::max(most, std::bit_cast<std::uint32_t>(matrix.data()[i]) >> 23U & 255U);
    }
    std::vector<Code> codes;
    std::vector<std::uint32_t> exceptions;
    for (Index i = first; i < end; ++i) {
      const auto value = std::bit_cast<std::uint32_t>(matrix.data()[i]);
      const std::uint32_t offset = most - (value >> 23U & 255U);
      if (offset <= 14) {
        codes.push_back({value >> 31U, offset, value & 0x7fffffU});
      } else if (value << 1U == 0) {
        codes.push_back({value >> 31U, 15, 0});
      } else {
        codes.push_back({value >> 31U, 15, 1});
        exceptions.push_back(value);
      }
    }
    const Bytes own = block(static_cast<std::uint8_t>(most), codes, exceptions);
    bytes.insert(bytes.end(), own.begin(), own.end());
  }
  return bytes;
}

// Numbers as tables hold them, of similar and of all sizes, and every pattern of bits.
constexpr std::uint64_t kNumKinds = 8;
Real draw_number(Rng& rng, std::uint64_t kind) {
  const auto any = static_cast<std::uint32_t>(rng.next());
  switch (kind) {
    case 0:
      return static_cast<Real>(0.1 * rng.normal());
    case 1:
      return static_cast<Real>(std::ldexp(rng.normal(), static_cast<int>(rng.below(18))));
    case 2:
      return std::bit_cast<Real>(any);
    case 3:
      return rng.below(2) == 0 ? 0.0F : -0.0F;
    case 4:
      return std::bit_cast<Real>(any & 0x807fffffU);  // denormals
    case 5:
      return std::bit_cast<Real>(any | 0x7f800000U);  // infinities and NaN
    case 6:
      return rng.below(3) == 0 ? static_cast<Real>(rng.normal()) : 0.0F;
    default:
      return std::bit_cast<Real>(any & 0x87ffffffU);  // up to 16 times the least normal
  }
}

TEST(Packing, BringsEveryBitBackInTheBytesThatTheFormatSays) {
  Rng rng(5);
  std::vector<Index> sizes(201);
  std::iota(sizes.begin(), sizes.end(), 0);
  sizes.insert(sizes.end(), {4095, 4096, 4097, 4200, 8192, 9001});  // of several calls of the sink
  for (const Index cols : sizes) {
    for (std::uint64_t kind = 0; kind <= kNumKinds; ++kind) {
      SCOPED_TRACE(testing::Message() << cols << " values of kind " << kind);
      Matrix matrix(1, cols);
      std::uint64_t own = kind;
      for (Index i = 0; i < cols; ++i) {
        if (kind == kNumKinds && i % 32 == 0) own = rng.below(kNumKinds);  // mixed
        matrix(0, i) = draw_number(rng, own);
      }
      const Bytes bytes = packed(matrix);
      ASSERT_EQ(bytes, pack_slowly(matrix));
      ASSERT_EQ(packed_bytes(matrix), bytes.size());
      ASSERT_EQ(is_packed(matrix), bytes.size() < static_cast<std::size_t>(cols) * 4);
      if (is_packed(matrix)) {
        ASSERT_TRUE(is_same_bits(unpacked(bytes, cols), matrix));
      } else {
        ASSERT_THROW((void)unpacked(bytes, cols), ProtocolError);
      }
    }
  }
}

TEST(Packing, TakesBlocksAcrossRows) {
  const Matrix tall = tests::random_matrix(50, 3, 1);
  const Bytes bytes = packed(tall);
  ByteReader reader(bytes);
  EXPECT_TRUE(is_same_bits(take_packed(reader, 50, 3, "m"), tall));
  EXPECT_EQ(bytes, packed(Eigen::Map<const Matrix>(tall.data(), 1, 150)));
}

TEST(Packing, KeepsWhatIsNotANumberAndWhatIsHardlyOne) {
  const Real payload = std::bit_cast<Real>(0xffa12345U);  // a signalling NaN
  Matrix matrix = tests::random_matrix(2, 100, 3);
  matrix(0, 3) = Limits::denorm_min();
  matrix(0, 4) = -Limits::denorm_min();
  matrix(0, 5) = -0.0F;
  matrix(1, 99) = payload;
  matrix(1, 98) = -Limits::infinity();
  ASSERT_TRUE(is_packed(matrix));
  Message message{.kind = "x", .round = 0, .arrays = {}};
  message.arrays.set("m", matrix);
  EXPECT_TRUE(is_same_bits(decode(encode(message)).arrays.matrix("m"), matrix));
  const FlushDenormals flush;
  EXPECT_TRUE(is_same_bits(decode(encode(message)).arrays.matrix("m"), matrix));
}

TEST(Packing, PaysFromFourValuesOnAndNotForNumbersOfAllSizes) {
  EXPECT_FALSE(is_packed(Matrix(0, 0)));
  EXPECT_FALSE(is_packed(Matrix(0, 7)));
  EXPECT_FALSE(is_packed(row({1, 2, 3})));
  EXPECT_TRUE(is_packed(row({1, 2, 3, 4})));
  EXPECT_FALSE(is_packed(row({1, 2, 3, 1e-9F})));
  EXPECT_TRUE(is_packed(row({0, 2, -0.0F, 4})));
  EXPECT_EQ(packed_bytes(Matrix::Constant(10, 128, 0.1F)), 10U * (128 * 7 / 2 + 2));
}

// 1, -2, 3 and 0.5 have the biased exponents 127, 128, 128 and 126.
const std::vector<Code> kCodes = {{0, 1, 0}, {1, 0, 0}, {0, 0, 0x400000}, {0, 2, 0}};

TEST(Packing, TakesABlockMadeByHand) {
  EXPECT_TRUE(is_same_bits(unpacked(block(128, kCodes), 4), row({1, -2, 3, 0.5F})));
}

TEST(Packing, RefusesWhatItWouldHaveWrittenOtherwise) {
  const auto takes = [](const Bytes& bytes, Index cols) {
    try {
      (void)unpacked(bytes, cols);
      return true;
    } catch (const ProtocolError&) {
      return false;
    }
  };
  EXPECT_FALSE(takes(block(128, {{0, 1, 0}, {0, 1, 0}, {0, 2, 0}, {0, 3, 0}}), 4))
      << "an exponent that no value has";
  EXPECT_FALSE(takes(block(128, {{0, 0, 0}, {0, 1, 0}, {0, 2, 0}}), 3)) << "not smaller";
  EXPECT_FALSE(takes(block(1, {{0, 0, 0}, {0, 2, 0}, {0, 0, 0}, {0, 0, 0}}), 4))
      << "an exponent below zero";
  EXPECT_FALSE(takes(block(14, {{0, 0, 0}, {0, 15, 0}, {0, 0, 0}, {0, 0, 0}}), 4))
      << "a special zero that an offset of 14 reaches";
  Bytes odd = block(128, {{0, 0, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}});
  EXPECT_TRUE(takes(odd, 5));
  odd.back() |= std::byte{0x10};
  EXPECT_FALSE(takes(odd, 5)) << "padding";
  // Twelve values leave room for an exception.
  std::vector<Code> codes(12, Code{0, 0, 7});
  codes[5] = {1, 15, 1};
  constexpr std::uint32_t kSmall = 0xb87fffffU;  // biased exponent 112
  EXPECT_TRUE(takes(block(128, codes, {kSmall}), 12));
  EXPECT_TRUE(takes(block(128, codes, {0xb8ffffffU}), 12)) << "exponent 113";
  EXPECT_FALSE(takes(block(128, codes, {0xb9000000U}), 12)) << "an offset of 14 reaches it";
  EXPECT_FALSE(takes(block(128, codes, {0xffc00000U}), 12)) << "a NaN is the largest";
  EXPECT_FALSE(takes(block(128, codes, {0x80000000U}), 12)) << "zeros have their own code";
  EXPECT_FALSE(takes(block(128, codes, {kSmall & 0x7fffffffU}), 12)) << "another sign";
  EXPECT_FALSE(takes(block(128, codes), 12)) << "no exception follows";
  EXPECT_FALSE(takes(block(128, codes, {kSmall, kSmall}), 12)) << "two follow";
  codes[5].mantissa = 2;
  EXPECT_FALSE(takes(block(128, codes), 12)) << "a special without meaning";
  EXPECT_FALSE(takes(block(128, std::vector<Code>(12, Code{0, 15, 0})), 12)) << "no largest";
}

TEST(Packing, RefusesClaimsBeforeMakingRoomForThem) {
  const Bytes bytes = block(128, kCodes);
  for (const auto& [rows, cols] :
       {std::pair<std::uint32_t, std::uint32_t>{0xffffffffU, 0xffffffffU},
        {1, 5},
        {2, 4},
        {0, 4},
        {0xffffffffU, 0}}) {
    ByteReader reader(bytes);
    EXPECT_THROW((void)take_packed(reader, rows, cols, "m"), ProtocolError) << rows << " " << cols;
  }
}
}  // namespace
}  // namespace fedhur::message
