#include "fedhur/base/sparse_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "fedhur/base/random.hpp"

namespace fedhur {
namespace {
using Counts = SparseMatrix<std::int64_t>;

template <class Scalar>
std::vector<std::byte> bytes_from(const SparseMatrix<Scalar>& matrix) {
  ByteWriter writer;
  matrix.encode(writer);
  return writer.finish();
}
template <class Scalar>
SparseMatrix<Scalar> sparse_from(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  return SparseMatrix<Scalar>::decode(reader, "m");
}

Counts sparse_example() {
  Counts matrix(3, 1000);
  matrix.append(0, 0, 7);
  matrix.append(0, 999, -64);
  matrix.append(2, 5, std::numeric_limits<std::int64_t>::max());
  matrix.append(2, 6, std::numeric_limits<std::int64_t>::min());
  matrix.append(2, 900, (std::int64_t{1} << 53U) + 1);  // no double is that number
  return matrix;
}

TEST(SparseMatrix, FindsTheEntriesOfARow) {
  const Counts matrix = sparse_example();
  EXPECT_EQ(matrix.begin_of(0), 0U);
  EXPECT_EQ(matrix.begin_of(1), 2U);
  EXPECT_EQ(matrix.begin_of(2), 2U);
  EXPECT_EQ(matrix.begin_of(3), 5U);
  EXPECT_EQ(matrix.row_of(4), 2);
  EXPECT_EQ(matrix.col_of(4), 900);
}

TEST(SparseMatrix, TakesEntriesInOrderAndInside) {
  Counts matrix(2, 3);
  matrix.append(0, 1, 5);
  EXPECT_THROW(matrix.append(0, 1, 5), std::logic_error);
  EXPECT_THROW(matrix.append(0, 0, 5), std::logic_error);
  EXPECT_THROW(matrix.append(2, 0, 5), std::logic_error);
  EXPECT_THROW(Counts(Index{1} << 32, 1), std::logic_error);
  EXPECT_THROW(Counts((Index{1} << 32) - 1, (Index{1} << 32) - 1), std::logic_error);
}

TEST(SparseMatrix, ComesBackFromBytesAsItWas) {
  const Counts matrix = sparse_example();
  const auto bytes = bytes_from(matrix);
  EXPECT_EQ(bytes.size(), matrix.encoded_size());
  // Distances 0, 998, 1005, 0, 893; values 14, 127, two of ten bytes and one of eight.
  EXPECT_EQ(bytes.size(), 16U + (1 + 2 + 2 + 1 + 2) + (1 + 1 + 10 + 10 + 8));
  EXPECT_TRUE(sparse_from<std::int64_t>(bytes).is_same(matrix));

  SparseMatrix<float> weights(4, 4);
  weights.append(1, 1, -0.0F);
  weights.append(3, 3, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(weights.encoded_size(), 16U + 2 + 8);
  EXPECT_TRUE(sparse_from<float>(bytes_from(weights)).is_same(weights));
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {5, 0}, {0, 5}, {1 << 30, 2}}) {
    const Counts empty(rows, cols);
    EXPECT_TRUE(sparse_from<std::int64_t>(bytes_from(empty)).is_same(empty));
  }
}

TEST(SparseMatrix, OfRandomEntriesComesBack) {
  Rng rng(3);
  for (int trial = 0; trial < 50; ++trial) {
    Counts matrix(40, 1 + static_cast<Index>(rng.below(5000)));
    Index place = -1;
    while (true) {
      place += 1 + static_cast<Index>(rng.next() >> (40 + rng.below(24)));
      if (place >= matrix.rows() * matrix.cols()) break;
      matrix.append(place, static_cast<std::int64_t>(rng.next()) >> rng.below(64));
    }
    EXPECT_EQ(bytes_from(matrix).size(), matrix.encoded_size());
    EXPECT_TRUE(sparse_from<std::int64_t>(bytes_from(matrix)).is_same(matrix));
  }
}

TEST(SparseMatrix, IsTheSameOnlyToTheLastBit) {
  const auto one = [](float value) {
    SparseMatrix<float> matrix(2, 2);
    matrix.append(0, 1, value);
    return matrix;
  };
  EXPECT_TRUE(one(0.5F).is_same(one(0.5F)));
  EXPECT_FALSE(one(0.0F).is_same(one(-0.0F)));
  EXPECT_FALSE(one(0.5F).is_same(SparseMatrix<float>(2, 2)));
  EXPECT_FALSE(SparseMatrix<float>(2, 3).is_same(SparseMatrix<float>(3, 2)));
}

TEST(SparseMatrix, RefusesEveryTruncation) {
  const auto bytes = bytes_from(sparse_example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW((void)sparse_from<std::int64_t>(std::span(bytes).first(size)), ProtocolError);
  }
}

std::vector<std::byte> stream_of(std::uint32_t rows, std::uint32_t cols, std::uint64_t count,
                                 const std::vector<int>& rest) {
  ByteWriter writer;
  writer.put(rows);
  writer.put(cols);
  writer.put(count);
  for (const int byte : rest) writer.put(static_cast<std::uint8_t>(byte));
  return writer.finish();
}

TEST(SparseMatrix, RefusesWhatNobodyWrites) {
  EXPECT_NO_THROW((void)sparse_from<std::int64_t>(stream_of(2, 2, 2, {0, 2, 2, 4})));
  const auto refuses = [](const std::vector<std::byte>& bytes) {
    EXPECT_THROW((void)sparse_from<std::int64_t>(bytes), ProtocolError);
  };
  refuses(stream_of(2, 2, 2, {0, 3, 2, 4}));        // the second entry is behind the end
  refuses(stream_of(2, 2, 2, {3, 0, 2, 4}));        // the same, right behind it
  refuses(stream_of(0, 0, 1, {0, 2}));              // an entry of nothing
  refuses(stream_of(2, 2, 1, {0x80, 0x00, 2}));     // a zero in two bytes
  refuses(stream_of(2, 2, 1, {0, 0x82, 0x00}));     // the same in a value
  refuses(stream_of(~0U, ~0U, 0, {}));              // places need 63 bits
  refuses(stream_of(~0U, 1, ~0ULL, {0, 0, 0, 0}));  // more entries than bytes
  std::vector<int> long_value(11, 0xff);
  long_value[0] = 0;
  long_value[10] = 0x02;
  refuses(stream_of(2, 2, 1, long_value));  // 65 bits
  long_value[10] = 0x01;
  EXPECT_NO_THROW((void)sparse_from<std::int64_t>(stream_of(2, 2, 1, long_value)));
}
}  // namespace
}  // namespace fedhur
