// What arrives without the bytes is what arrives with them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "fedhur/message/wire_codec.hpp"
#include "tests/support/support.hpp"

namespace fedhur::message {
namespace {
constexpr std::array kPrecisions = {Precision::float32, Precision::float16, Precision::int8};

// Numbers of all sizes, or all bit patterns.
Real draw_number(Rng& rng, std::uint64_t kind) {
  if (kind == 0) return static_cast<Real>(rng.normal());
  if (kind == 1) {
    return static_cast<Real>(std::ldexp(rng.normal(), static_cast<int>(rng.below(280)) - 150));
  }
  if (kind == 2) return rng.below(3) == 0 ? static_cast<Real>(1e5 * rng.normal()) : 0.0F;
  return std::bit_cast<Real>(static_cast<std::uint32_t>(rng.next()));
}

Message draw_message(Rng& rng) {
  Message message{.kind = "random", .round = static_cast<Round>(rng.below(1000)), .arrays = {}};
  const std::uint64_t count = rng.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name = fmt::format("array_{}", i);
    const bool is_long = rng.below(4) == 0;
    const auto rows = static_cast<Index>(is_long ? 1 : rng.below(12));
    const auto cols = static_cast<Index>(rng.below(is_long ? 700 : 140));
    const std::uint64_t type = rng.below(8);
    if (type == 0) {
      message.arrays.set_number(name, rng.normal());
    } else if (type == 1) {
      message.arrays.set(
          name, MatrixOf<std::int32_t>(MatrixOf<std::int32_t>::Constant(rows, cols, 0x12345678)));
    } else {
      Matrix matrix(rows, cols);
      for (Index k = 0; k < matrix.size(); ++k) matrix.data()[k] = draw_number(rng, type % 4);
      message.arrays.set(name, std::move(matrix));
    }
  }
  return message;
}

void expect_same(const Message& a, const Message& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.round, b.round);
  ASSERT_EQ(a.arrays.size(), b.arrays.size());
  for (std::size_t i = 0; i < a.arrays.size(); ++i) {
    EXPECT_EQ(a.arrays.entries()[i].first, b.arrays.entries()[i].first);
    EXPECT_TRUE(is_same(a.arrays.entries()[i].second, b.arrays.entries()[i].second));
  }
}

TEST(Transmit, IsEncodingAndDecodingBitForBit) {
  Rng rng(11);
  for (int trial = 0; trial < 3000; ++trial) {
    const Message message = draw_message(rng);
    for (const Precision precision : kPrecisions) {
      SCOPED_TRACE(fmt::format("trial {} in {}", trial, name_of(precision)));
      const auto bytes = encode(message, {precision});
      ASSERT_EQ(bytes.size(), encoded_size(message, {precision}));
      const Message arrived = transmit(message, {precision});
      expect_same(arrived, decode(bytes));
      ASSERT_EQ(encode(arrived, {precision}), bytes) << "a second way changes nothing";
      ASSERT_EQ(encoded_size(arrived, {precision}), bytes.size());
    }
  }
}

TEST(Transmit, SharesWhatTravelsExactly) {
  Message message{.kind = "x", .round = 3, .arrays = {}};
  message.arrays.set("m", tests::random_matrix(4, 5, 1));
  message.arrays.set("huge", Matrix(Matrix::Constant(2, 2, 1e9F)));
  message.arrays.set_number("number", 0.1);
  const Message exact = transmit(message, {Precision::float32});
  EXPECT_EQ(exact.arrays.shared_matrix("m"), message.arrays.shared_matrix("m"));
  const Message halves = transmit(message, {Precision::float16});
  EXPECT_NE(halves.arrays.shared_matrix("m"), message.arrays.shared_matrix("m"));
  EXPECT_EQ(halves.arrays.shared_matrix("huge"), message.arrays.shared_matrix("huge"));
  EXPECT_EQ(&halves.arrays.doubles("number"), &message.arrays.doubles("number"));
}

TEST(Transmit, RefusesWhatCouldNotBeEncoded) {
  EXPECT_THROW((void)transmit({.kind = "Train", .round = 0, .arrays = {}}, {}), std::logic_error);
  EXPECT_THROW((void)transmit({.kind = "train", .round = -1, .arrays = {}}, {}), std::logic_error);
  Message long_name{.kind = "train", .round = 0, .arrays = {}};
  long_name.arrays.set_number(std::string(256, 'n'), 1);
  EXPECT_THROW((void)transmit(long_name, {}), std::logic_error);
  EXPECT_THROW((void)encode(long_name), std::logic_error);
}
}  // namespace
}  // namespace fedhur::message
