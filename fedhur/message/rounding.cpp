#include "fedhur/message/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <span>

namespace fedhur::message {
namespace {
constexpr Real kLargestHalf = 65504.0F;
constexpr std::uint16_t kHalfExponent = 0x7c00;

// A block whose largest number is below is zero. Above, no result is a denormal and no denormal is
// more than half a step, so that flushing them changes nothing.
constexpr Real kLeastMagnitude = 0x1p-118F;
constexpr int kSteps = 127;

// The bits of magnitudes are ordered as the magnitudes are, infinities and NaN last. Signed,
// because any CPU compares many signed integers at once.
Real largest_magnitude(const Real* values, Index count) {
  constexpr std::int32_t kWithoutSign = 0x7fffffff;
  std::int32_t largest = 0;
  for (Index i = 0; i < count; ++i) {
    largest = std::max(largest, std::bit_cast<std::int32_t>(values[i]) & kWithoutSign);
  }
  return std::bit_cast<Real>(largest);
}

std::uint16_t to_half(Real value) {  // to nearest, ties to even
  return Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(value));
}
Real from_half(std::uint16_t bits) {
  return static_cast<Real>(Eigen::numext::bit_cast<Eigen::half>(bits));
}

// Up to kBlock numbers as multiples of magnitude / 127.
struct Block {
  Real magnitude = 0;
  std::array<std::int8_t, kBlock> steps{};
};

Block to_block(const Real* values, Index count) {
  Block block;
  const Real magnitude = largest_magnitude(values, count);
  if (magnitude < kLeastMagnitude) return block;
  block.magnitude = magnitude;
  const double steps_per_unit = kSteps / static_cast<double>(magnitude);
  for (Index i = 0; i < count; ++i) {
    // Adding and taking away 1.5 * 2^52 rounds to the nearest integer, ties to even.
    constexpr double kRounder = 0x1.8p52;
    const double steps = (static_cast<double>(values[i]) * steps_per_unit + kRounder) - kRounder;
    block.steps[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(steps);
  }
  return block;
}

void from_block(const Block& block, Real* values, Index count) {
  const double step = static_cast<double>(block.magnitude) / kSteps;
  for (Index i = 0; i < count; ++i) {
    values[i] = static_cast<Real>(block.steps[static_cast<std::size_t>(i)] * step);
  }
}

bool is_block(const Block& block, Index count) {
  int most = 0;
  for (Index i = 0; i < count; ++i) {
    most = std::max(most, std::abs(int{block.steps[static_cast<std::size_t>(i)]}));
  }
  const auto bits = std::bit_cast<std::uint32_t>(block.magnitude);
  if (bits == 0) return most == 0;
  return most == kSteps && bits >= std::bit_cast<std::uint32_t>(kLeastMagnitude) &&
         bits <= std::bit_cast<std::uint32_t>(std::numeric_limits<Real>::max());
}

// act(values, count) for every block of every row.
template <class Scalar, class Act>
void for_each_block(Scalar* values, Index rows, Index cols, const Act& act) {
  if (cols == 0) return;  // the number of rows may be any that a sender claims
  for (Index row = 0; row < rows; ++row) {
    for (Index first = 0; first < cols; first += kBlock) {
      act(values + row * cols + first, std::min(kBlock, cols - first));
    }
  }
}

void put_halves(const Matrix& matrix, ByteSink& sink) {
  std::array<std::uint16_t, 512> halves{};
  constexpr auto kMost = static_cast<Index>(halves.size());
  for (Index first = 0; first < matrix.size(); first += kMost) {
    const Index count = std::min(kMost, matrix.size() - first);
    std::transform(matrix.data() + first, matrix.data() + first + count, halves.begin(), to_half);
    sink.put_bytes(std::as_bytes(std::span(halves).first(static_cast<std::size_t>(count))));
  }
}

void take_halves(std::span<const std::byte> bytes, Matrix& matrix, const std::string& name) {
  for (Index i = 0; i < matrix.size(); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes.data() + static_cast<std::size_t>(i) * sizeof(half), sizeof(half));
    if ((half & kHalfExponent) == kHalfExponent) {
      throw ProtocolError(fmt::format("array '{}' holds halves that are not finite", name));
    }
    matrix.data()[i] = from_half(half);
  }
}

void put_blocks(const Matrix& matrix, ByteSink& sink) {
  for_each_block(matrix.data(), matrix.rows(), matrix.cols(), [&](const Real* values, Index count) {
    const Block block = to_block(values, count);
    sink.put(block.magnitude);
    sink.put_bytes(std::as_bytes(std::span(block.steps).first(static_cast<std::size_t>(count))));
  });
}

void take_blocks(ByteReader reader, Matrix& matrix, const std::string& name) {
  for_each_block(matrix.data(), matrix.rows(), matrix.cols(), [&](Real* values, Index count) {
    Block block;
    block.magnitude = reader.get<Real>();
    const auto steps = reader.take(static_cast<std::size_t>(count));
    std::memcpy(block.steps.data(), steps.data(), steps.size());
    if (!is_block(block, count)) {
      throw ProtocolError(fmt::format("array '{}' holds an invalid block", name));
    }
    from_block(block, values, count);
  });
}

std::size_t size_of(std::size_t rows, std::size_t cols, Precision precision) {
  if (precision == Precision::float16) return rows * cols * sizeof(std::uint16_t);
  constexpr auto kMost = static_cast<std::size_t>(kBlock);
  return rows * (cols + (cols + kMost - 1) / kMost * sizeof(Real));
}
}  // namespace

bool is_rounded(const Matrix& matrix, Precision precision) {
  if (precision == Precision::float32) return false;
  if (precision == Precision::int8 && matrix.cols() == 1) return false;  // it would grow
  const Real most =
      precision == Precision::float16 ? kLargestHalf : std::numeric_limits<Real>::max();
  return largest_magnitude(matrix.data(), matrix.size()) <= most;
}

std::size_t rounded_size(const Matrix& matrix, Precision precision) {
  return size_of(static_cast<std::size_t>(matrix.rows()), static_cast<std::size_t>(matrix.cols()),
                 precision);
}

void put_rounded(const Matrix& matrix, Precision precision, ByteSink& sink) {
  expects(is_rounded(matrix, precision), "the matrix can travel in this precision");
  precision == Precision::float16 ? put_halves(matrix, sink) : put_blocks(matrix, sink);
}

Matrix take_rounded(ByteReader& reader, std::uint32_t rows, std::uint32_t cols, Precision precision,
                    const std::string& name) {
  // Both factors are below 2^32, so that the product cannot wrap; once it is known to be no more
  // than what arrived, neither can the size.
  if (std::uint64_t{rows} * cols > reader.remaining() ||
      size_of(rows, cols, precision) > reader.remaining()) {
    throw ProtocolError(
        fmt::format("array '{}' claims {} x {} values, more than arrived", name, rows, cols));
  }
  if (precision == Precision::int8 && cols == 1) {
    throw ProtocolError(fmt::format("array '{}' has a single column in blocks", name));
  }
  Matrix matrix(static_cast<Index>(rows), static_cast<Index>(cols));
  const auto bytes = reader.take(size_of(rows, cols, precision));
  if (precision == Precision::float16) {
    take_halves(bytes, matrix, name);
  } else {
    take_blocks(ByteReader(bytes), matrix, name);
  }
  return matrix;
}

Matrix round_to(const Matrix& matrix, Precision precision) {
  expects(is_rounded(matrix, precision), "the matrix can travel in this precision");
  Matrix rounded = matrix;
  if (precision == Precision::float16) {
    for (Index i = 0; i < rounded.size(); ++i) {
      rounded.data()[i] = from_half(to_half(rounded.data()[i]));
    }
  } else {
    for_each_block(rounded.data(), rounded.rows(), rounded.cols(), [](Real* values, Index count) {
      from_block(to_block(values, count), values, count);
    });
  }
  return rounded;
}
}  // namespace fedhur::message
