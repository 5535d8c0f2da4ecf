#include "fedhur/message/packing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "fedhur/base/wide.hpp"

namespace fedhur::message {
namespace {
constexpr std::size_t kPerBlock = 64;
constexpr int kMantissaBits = 23;
constexpr int kMostOffset = 14;
// Of a float and, where the sign is moved down by four bits, of a code. All are signed, because any
// CPU compares many signed integers at once.
constexpr std::int32_t kMagnitude = 0x7fffffff;
constexpr std::int32_t kExponent = 0x7f800000;
constexpr std::int32_t kMantissa = 0x007fffff;
constexpr std::int32_t kCodeSign = 0x08000000;
constexpr std::int32_t kZeroCode = (kMostOffset + 1) << kMantissaBits;
constexpr std::int32_t kExceptionCode = kZeroCode + 1;
constexpr std::uint64_t kFirstOfPair = 0x0fffffff;
constexpr std::size_t kPairBytes = 7;

constexpr std::size_t code_bytes(std::size_t count) { return (kPairBytes * count + 1) / 2; }
constexpr std::size_t fixed_size(std::size_t count) {  // without exceptions
  return (count + kPerBlock - 1) / kPerBlock + code_bytes(count);
}
std::size_t count_of(const Matrix& matrix) { return static_cast<std::size_t>(matrix.size()); }

using Codes = std::array<std::int32_t, kPerBlock>;

std::int32_t bits_of(Real value) { return std::bit_cast<std::int32_t>(value); }

// The magnitudes below do not fit the offsets: they are zeros or exceptions.
std::int32_t least_ordinary(std::int32_t exponent) {
  return std::max(exponent - kMostOffset, 0) << kMantissaBits;
}

// These loops are written for a count that is known when compiling, that of all blocks but the
// last: the compiler makes vectors of them.
[[gnu::always_inline]] inline std::int32_t largest_exponent(const Real* values, std::size_t count) {
  std::int32_t largest = 0;  // the bits of magnitudes are ordered as the exponents are
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, bits_of(values[i]) & kMagnitude);
  }
  return largest >> kMantissaBits;
}

[[gnu::always_inline]] inline std::size_t count_exceptions(const Real* values, std::size_t count) {
  const std::int32_t least = least_ordinary(largest_exponent(values, count));
  std::int32_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t magnitude = bits_of(values[i]) & kMagnitude;
    found +=
        static_cast<std::int32_t>(magnitude > 0) & static_cast<std::int32_t>(magnitude < least);
  }
  return static_cast<std::size_t>(found);
}

// Returns the number of exceptions.
[[gnu::always_inline]] inline std::size_t to_codes(const Real* values, std::size_t count,
                                                   std::int32_t exponent, Codes& codes) {
  const std::int32_t largest = exponent << kMantissaBits;
  const std::int32_t least = least_ordinary(exponent);
  std::int32_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t bits = bits_of(values[i]);
    const std::int32_t magnitude = bits & kMagnitude;
    const std::int32_t ordinary = (largest - (magnitude & kExponent)) | (magnitude & kMantissa);
    const auto is_nonzero = static_cast<std::int32_t>(magnitude > 0);
    const std::int32_t code = magnitude < least ? kZeroCode + is_nonzero : ordinary;
    found += static_cast<std::int32_t>(magnitude < least) & is_nonzero;
    codes[i] = code | ((bits >> 4) & kCodeSign);
  }
  return static_cast<std::size_t>(found);
}

// One call of the sink for many blocks.
constexpr std::size_t kBlocksAtOnce = 64;
constexpr std::size_t kLargestBlock = 1 + code_bytes(kPerBlock) + kPerBlock * sizeof(Real);
// With room for what the last pair writes beyond its seven bytes.
using Packed = std::array<std::byte, kBlocksAtOnce * kLargestBlock + 1>;

// Where the block ends.
[[gnu::always_inline]] inline std::byte* pack(const Real* values, std::size_t count,
                                              std::byte* to) {
  Codes codes{};  // an odd last pair is filled up with zeros
  const std::int32_t exponent = largest_exponent(values, count);
  const std::size_t num_exceptions = to_codes(values, count, exponent, codes);
  *to = static_cast<std::byte>(exponent);
  std::byte* pairs = to + 1;
  for (std::size_t i = 0; i < count; i += 2) {
    std::uint64_t pair = 0;
    std::memcpy(&pair, codes.data() + i, sizeof(pair));
    pair = (pair & kFirstOfPair) | ((pair >> 4) & ~kFirstOfPair);
    std::memcpy(pairs, &pair, sizeof(pair));
    pairs += kPairBytes;
  }
  to += 1 + code_bytes(count);
  if (num_exceptions == 0) return to;
  for (std::size_t i = 0; i < count; ++i) {
    if ((codes[i] & ~kCodeSign) != kExceptionCode) continue;
    std::memcpy(to, values + i, sizeof(Real));
    to += sizeof(Real);
  }
  return to;
}

// At most kBlocksAtOnce blocks. How many bytes they have become.
FEDHUR_WIDE std::size_t pack_blocks(const Real* values, std::size_t count, std::byte* to) {
  const std::byte* begin = to;
  const std::size_t whole = count / kPerBlock * kPerBlock;
  for (std::size_t first = 0; first < whole; first += kPerBlock) {
    to = pack(values + first, kPerBlock, to);
  }
  if (whole != count) to = pack(values + whole, count - whole, to);
  return static_cast<std::size_t>(to - begin);
}

FEDHUR_WIDE std::size_t count_all_exceptions(const Real* values, std::size_t count) {
  const std::size_t whole = count / kPerBlock * kPerBlock;
  std::size_t found = 0;
  for (std::size_t first = 0; first < whole; first += kPerBlock) {
    found += count_exceptions(values + first, kPerBlock);
  }
  return found + count_exceptions(values + whole, count - whole);
}

// What from_codes() has seen.
struct Seen {
  bool has_largest = false;
  bool is_wrong = false;  // below the smallest exponent, or special without a meaning
  std::size_t num_exceptions = 0;
};

// Leaves exceptions as zeros.
[[gnu::always_inline]] inline Seen from_codes(const Codes& codes, std::size_t count,
                                              std::int32_t exponent, Real* values) {
  std::int32_t least_offset = kZeroCode;
  std::int32_t most_offset = 0;
  std::int32_t most_code = 0;
  std::int32_t num_exceptions = 0;
  const std::int32_t largest = exponent << kMantissaBits;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t code = codes[i] & ~kCodeSign;
    const std::int32_t offset = code & kZeroCode;
    least_offset = std::min(least_offset, offset);
    most_offset = std::max(most_offset, offset);
    most_code = std::max(most_code, code);
    num_exceptions += static_cast<std::int32_t>(code == kExceptionCode);
    const std::int32_t ordinary = (largest - offset) | (code & kMantissa);
    const std::int32_t magnitude = code >= kZeroCode ? 0 : ordinary;
    const auto sign = static_cast<std::uint32_t>(codes[i] & kCodeSign) << 4U;
    values[i] = std::bit_cast<Real>(static_cast<std::uint32_t>(magnitude & kMagnitude) | sign);
  }
  return {.has_largest = least_offset == 0,
          .is_wrong = most_offset > largest || most_code > kExceptionCode,
          .num_exceptions = static_cast<std::size_t>(num_exceptions)};
}

// False if one needed no exception, or has not the sign of its code.
bool take_exceptions(std::span<const std::byte> bytes, const Codes& codes, std::size_t count,
                     std::int32_t exponent, Real* values) {
  const std::byte* from = bytes.data();
  for (std::size_t i = 0; i < count; ++i) {
    if ((codes[i] & ~kCodeSign) != kExceptionCode) continue;
    std::memcpy(values + i, from, sizeof(Real));
    from += sizeof(Real);
    const std::int32_t magnitude = bits_of(values[i]) & kMagnitude;
    const bool is_same_sign = ((bits_of(values[i]) >> 4) & kCodeSign) == (codes[i] & kCodeSign);
    if (magnitude == 0 || magnitude >= least_ordinary(exponent) || !is_same_sign) return false;
  }
  return true;
}

// Where the block ends; nullptr if it is not one that pack() writes, or not there as a whole.
[[gnu::always_inline]] inline const std::byte* unpack(const std::byte* from, const std::byte* end,
                                                      Real* values, std::size_t count) {
  const std::size_t size = code_bytes(count);
  if (static_cast<std::size_t>(end - from) < 1 + size) return nullptr;
  const auto exponent = static_cast<std::int32_t>(*from++);
  std::array<std::byte, code_bytes(kPerBlock) + 1> pairs{};
  std::memcpy(pairs.data(), from, size);
  from += size;
  Codes codes{};
  for (std::size_t i = 0; i < count; i += 2) {
    std::uint64_t pair = 0;
    std::memcpy(&pair, pairs.data() + i / 2 * kPairBytes, sizeof(pair));
    pair = (pair & kFirstOfPair) | ((pair << 4U) & (kFirstOfPair << 32U));
    std::memcpy(codes.data() + i, &pair, sizeof(pair));
  }
  if (count % 2 != 0 && codes[count] != 0) return nullptr;
  const Seen seen = from_codes(codes, count, exponent, values);
  if (seen.is_wrong || !seen.has_largest) return nullptr;
  if (seen.num_exceptions == 0) return from;
  const std::size_t rest = seen.num_exceptions * sizeof(Real);
  if (static_cast<std::size_t>(end - from) < rest) return nullptr;
  const bool is_right = take_exceptions({from, rest}, codes, count, exponent, values);
  return is_right ? from + rest : nullptr;
}

// The same for all blocks. Nothing may be thrown through a function of two kinds.
FEDHUR_WIDE const std::byte* unpack_blocks(std::span<const std::byte> bytes, Real* values,
                                           std::size_t count) noexcept {
  const std::byte* from = bytes.data();
  const std::byte* end = from + bytes.size();
  const std::size_t whole = count / kPerBlock * kPerBlock;
  for (std::size_t first = 0; first < whole && from != nullptr; first += kPerBlock) {
    from = unpack(from, end, values + first, kPerBlock);
  }
  if (from == nullptr || whole == count) return from;
  return unpack(from, end, values + whole, count - whole);
}
}  // namespace

std::size_t packed_bytes(const Matrix& matrix) {
  const std::size_t count = count_of(matrix);
  return fixed_size(count) + count_all_exceptions(matrix.data(), count) * sizeof(Real);
}

bool is_packed(const Matrix& matrix) {
  return packed_bytes(matrix) < count_of(matrix) * sizeof(Real);
}

void put_packed(const Matrix& matrix, ByteSink& sink) {
  constexpr std::size_t kAtOnce = kBlocksAtOnce * kPerBlock;
  const std::size_t count = count_of(matrix);
  Packed packed;
  for (std::size_t first = 0; first < count; first += kAtOnce) {
    const std::size_t size =
        pack_blocks(matrix.data() + first, std::min(kAtOnce, count - first), packed.data());
    sink.put_bytes(std::span(packed).first(size));
  }
}

Matrix take_packed(ByteReader& reader, std::uint32_t rows, std::uint32_t cols,
                   const std::string& name) {
  // Both factors are below 2^32, so that the product cannot wrap; once it is known to be no more
  // than what arrived, neither can the size.
  const std::uint64_t count = std::uint64_t{rows} * cols;
  if (count > reader.remaining() || fixed_size(count) > reader.remaining()) {
    throw ProtocolError(
        fmt::format("array '{}' claims {} x {} values, more than arrived", name, rows, cols));
  }
  Matrix matrix(static_cast<Index>(rows), static_cast<Index>(cols));
  const std::span<const std::byte> bytes = reader.rest();
  const std::byte* end = unpack_blocks(bytes, matrix.data(), count);
  const std::size_t size = end != nullptr ? static_cast<std::size_t>(end - bytes.data()) : 0;
  if (end == nullptr || size >= count * sizeof(Real)) {
    throw ProtocolError(fmt::format("array '{}' is not packed correctly", name));
  }
  (void)reader.take(size);
  return matrix;
}
}  // namespace fedhur::message
