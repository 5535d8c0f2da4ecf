#include "fedhur/message/rounding.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "fedhur/base/parallel.hpp"
#include "fedhur/message/wire_codec.hpp"
#include "tests/support/support.hpp"

namespace fedhur::message::rounding_test {
namespace {
using Limits = std::numeric_limits<Real>;

Matrix row(const std::vector<Real>& values) {
  return Eigen::Map<const Matrix>(values.data(), 1, static_cast<Index>(values.size()));
}

Message holding(const Matrix& matrix) {
  Message message{.kind = "x", .round = 0, .arrays = {}};
  message.arrays.set("m", matrix);
  return message;
}

// Through the bytes.
Matrix sent(const Matrix& matrix, Precision precision) {
  return decode(encode(holding(matrix), {precision})).arrays.matrix("m");
}

void expect_same_bits(const Matrix& a, const Matrix& b) {
  EXPECT_TRUE(is_same(std::make_shared<const Matrix>(a), std::make_shared<const Matrix>(b)))
      << a << "\nand\n"
      << b;
}

TEST(Halves, RoundToTheNearestAndTiesToEven) {
  // Between 1 and 2 halves are 2^-10 apart.
  const Real step = 0x1p-10F;
  const Matrix given = row({1.0F, 1 + 0.4F * step, 1 + 0.5F * step, 1 + 0.6F * step,
                            1 + 1.5F * step, -(1 + 1.5F * step), 0.1F, 2049.0F, 2051.0F});
  const Matrix expected = row({1.0F, 1.0F, 1.0F, 1 + step, 1 + 2 * step, -(1 + 2 * step),
                               0.0999755859375F, 2048.0F, 2052.0F});
  expect_same_bits(sent(given, Precision::float16), expected);
}

TEST(Halves, KeepSmallNumbersAsFarAsTheyGo) {
  const Matrix given = row({0x1p-14F, 0x1p-24F, 0x1.8p-24F, 0x1p-25F, 0x1.1p-25F, -0x1p-26F,
                            Limits::denorm_min(), -0.0F});
  const Matrix expected = row({0x1p-14F, 0x1p-24F, 0x1p-23F, 0, 0x1p-24F, -0.0F, 0, -0.0F});
  expect_same_bits(sent(given, Precision::float16), expected);
}

TEST(Halves, EveryFiniteOneComesBack) {
  Matrix all(2, 0x7c00);
  for (Index i = 0; i < all.cols(); ++i) {
    // By definition: sign, five bits of exponent, ten of fraction.
    const auto exponent = static_cast<int>(i >> 10);
    const auto fraction = static_cast<double>(i & 0x3ff) / 1024;
    all(0, i) = static_cast<Real>(exponent == 0 ? std::ldexp(fraction, -14)
                                                : std::ldexp(1 + fraction, exponent - 15));
    all(1, i) = -all(0, i);
  }
  expect_same_bits(sent(all, Precision::float16), all);
}

TEST(Halves, LeaveATableExactThatHoldsANumberBeyondTheLargest) {
  expect_same_bits(sent(row({65504.0F, -65504.0F}), Precision::float16),
                   row({65504.0F, -65504.0F}));
  for (const Real huge : {65504.004F, 65520.0F, -70000.0F, Limits::max(), Limits::infinity(),
                          -Limits::infinity(), Limits::quiet_NaN()}) {
    const Matrix given = row({0.1F, huge, -3e-9F});
    EXPECT_FALSE(is_rounded(given, Precision::float16)) << huge;
    expect_same_bits(sent(given, Precision::float16), given);
  }
}

TEST(Blocks, AreMultiplesOfTheLargestMagnitudeBy127) {
  const Matrix given = row({1.27F, -0.01F, 0.014F, 0.016F, 0.0F, -1.2649F});
  const Matrix expected = row({1.27F, -0.01F, 0.01F, 0.02F, 0.0F, -1.26F});
  EXPECT_TRUE(sent(given, Precision::int8).isApprox(expected, 1e-6F))
      << sent(given, Precision::int8);
}

TEST(Blocks, ErrByAtMostHalfAStep) {
  const Matrix given = tests::random_matrix(7, 150, 3);
  const Matrix received = sent(given, Precision::int8);
  for (Index r = 0; r < given.rows(); ++r) {
    for (const auto& [first, count] : {std::pair<Index, Index>{0, 64}, {64, 64}, {128, 22}}) {
      const Matrix block = given.block(r, first, 1, count);
      const Real most = block.cwiseAbs().maxCoeff();
      EXPECT_EQ(received.block(r, first, 1, count).cwiseAbs().maxCoeff(), most);
      EXPECT_LE((received.block(r, first, 1, count) - block).cwiseAbs().maxCoeff(),
                0.5001F * most / 127);
    }
  }
}

TEST(Blocks, OfALongRowDoNotKnowEachOther) {
  Matrix given = Matrix::Constant(1, 5000, 1e-6F);
  given(0, 100) = 1e6F;
  const Matrix received = sent(given, Precision::int8);
  for (Index i = 0; i < given.cols(); ++i) {
    if (i >= 64 && i < 128) continue;
    EXPECT_EQ(received(0, i), 1e-6F) << i;
  }
  EXPECT_EQ(received(0, 100), 1e6F);
  EXPECT_EQ(received(0, 101), 0.0F);
}

TEST(Blocks, OfZerosStayZeroAndRowsDoNotKnowEachOther) {
  Matrix given = tests::random_matrix(5, 3, 8);
  given.row(2).setZero();
  given.row(3) *= 1e-20F;
  const Matrix received = sent(given, Precision::int8);
  EXPECT_TRUE((received.row(2).array() == 0).all());
  EXPECT_TRUE(received.row(3).isApprox(given.row(3), 1e-2F));
}

TEST(Blocks, TakeHugeNumbersAndLoseTheSmallest) {
  expect_same_bits(sent(row({Limits::max(), -Limits::max(), 1}), Precision::int8),
                   row({Limits::max(), -Limits::max(), 0}));
  expect_same_bits(sent(row({0x1p-118F, -0x1p-118F, Limits::min()}), Precision::int8),
                   row({0x1p-118F, -0x1p-118F, 0}));
  expect_same_bits(sent(row({Limits::denorm_min(), -Limits::min()}), Precision::int8), row({0, 0}));
}

TEST(Blocks, LeaveATableExactThatIsNotFiniteOrASingleColumn) {
  for (const Real bad : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                         std::bit_cast<Real>(0xffc12345U)}) {
    const Matrix given = row({0.1F, bad, 3});
    expect_same_bits(sent(given, Precision::int8), given);
  }
  const Matrix column = tests::random_matrix(9, 1, 2);
  expect_same_bits(sent(column, Precision::int8), column);
}

class Rounding : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Lossy, Rounding, testing::Values(Precision::float16, Precision::int8),
                         [](const auto& precision) { return name_of(precision.param); });

TEST_P(Rounding, TakesEmptyMatrices) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 5}, {5, 0}, {0, 1}}) {
    expect_same_bits(sent(Matrix(rows, cols), GetParam()), Matrix(rows, cols));
  }
}

TEST_P(Rounding, TwiceIsOnce) {
  const Matrix once = sent(tests::random_matrix(9, 70, 4), GetParam());
  expect_same_bits(sent(once, GetParam()), once);
}

TEST_P(Rounding, DoesNotDependOnWhetherDenormalsAreFlushed) {
  Matrix given = tests::random_matrix(40, 70, 6);
  for (Index r = 0; r < given.rows(); ++r) {  // from ordinary numbers to the last denormals
    given.row(r) *= std::ldexp(1.0F, static_cast<int>(-110 - r));
  }
  given(0, 0) = 0x1p-118F;
  const auto bytes = encode(holding(given), {GetParam()});
  const Matrix plain = round_to(given, GetParam());
  const FlushDenormals flush;
  EXPECT_EQ(encode(holding(given), {GetParam()}), bytes);
  expect_same_bits(round_to(given, GetParam()), plain);
  expect_same_bits(decode(bytes).arrays.matrix("m"), plain);
}
}  // namespace
}  // namespace fedhur::message::rounding_test
