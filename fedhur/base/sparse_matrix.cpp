#include "fedhur/base/sparse_matrix.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <type_traits>

namespace fedhur {
namespace {
constexpr std::uint64_t kMostPlaces = std::numeric_limits<Index>::max();
constexpr unsigned kBits = 7;          // of a number in each of its bytes
constexpr std::uint8_t kMore = 0x80U;  // another byte follows

std::size_t size_of_number(std::uint64_t number) {
  std::size_t size = 1;
  for (; number >= kMore; number >>= kBits) ++size;
  return size;
}

void put_number(std::uint64_t number, ByteSink& sink) {
  std::array<std::byte, 10> bytes{};
  std::size_t size = 0;
  for (; number >= kMore; number >>= kBits) {
    bytes[size++] = static_cast<std::byte>((number & (kMore - 1U)) | kMore);
  }
  bytes[size++] = static_cast<std::byte>(number);
  sink.put_bytes(std::span(bytes).first(size));
}

std::uint64_t take_number(ByteReader& reader, const std::string& name) {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += kBits) {
    const auto byte = reader.get<std::uint8_t>();
    const std::uint64_t bits = byte & (kMore - 1U);
    const bool is_last = (byte & kMore) == 0;
    const bool fits = shift < 63 || (shift == 63 && bits <= 1);
    if (!fits || (is_last && bits == 0 && shift > 0)) {
      throw ProtocolError(fmt::format("array '{}' holds a number that nobody writes so", name));
    }
    number |= bits << shift;
    if (is_last) return number;
  }
}

// Small magnitudes of either sign become small numbers: 0, -1, 1, -2, ...
std::uint64_t fold_sign(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unfold_sign(std::uint64_t number) {
  return static_cast<std::int64_t>((number >> 1U) ^ (~(number & 1U) + 1U));
}

template <class Scalar>
constexpr bool kIsWhole = std::is_integral_v<Scalar>;
}  // namespace

template <class Scalar>
SparseMatrix<Scalar>::SparseMatrix(Index rows, Index cols) : rows_(rows), cols_(cols) {
  constexpr Index kMostSide = std::numeric_limits<std::uint32_t>::max();
  expects(rows >= 0 && cols >= 0 && rows <= kMostSide && cols <= kMostSide, "sides fit 32 bits");
  expects(static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) <= kMostPlaces,
          "places fit 63 bits");
}

template <class Scalar>
void SparseMatrix<Scalar>::reserve(std::size_t num_entries) {
  places_.reserve(num_entries);
  values_.reserve(num_entries);
}

template <class Scalar>
bool SparseMatrix<Scalar>::is_same(const SparseMatrix& other) const {
  return rows_ == other.rows_ && cols_ == other.cols_ && places_ == other.places_ &&
         std::ranges::equal(std::as_bytes(std::span(values_)),
                            std::as_bytes(std::span(other.values_)));
}

template <class Scalar>
std::size_t SparseMatrix<Scalar>::encoded_size() const {
  std::size_t size = 2 * sizeof(std::uint32_t) + sizeof(std::uint64_t);
  Index previous = -1;
  for (const Index place : places_) {
    size += size_of_number(static_cast<std::uint64_t>(place - previous - 1));
    previous = place;
  }
  if constexpr (kIsWhole<Scalar>) {
    for (const Scalar value : values_) size += size_of_number(fold_sign(value));
    return size;
  } else {
    return size + values_.size() * sizeof(Scalar);
  }
}

template <class Scalar>
void SparseMatrix<Scalar>::encode(ByteSink& sink) const {
  sink.put(static_cast<std::uint32_t>(rows_));
  sink.put(static_cast<std::uint32_t>(cols_));
  sink.put(std::uint64_t{values_.size()});
  Index previous = -1;
  for (const Index place : places_) {
    put_number(static_cast<std::uint64_t>(place - previous - 1), sink);
    previous = place;
  }
  if constexpr (kIsWhole<Scalar>) {
    for (const Scalar value : values_) put_number(fold_sign(value), sink);
  } else {
    sink.put_bytes(std::as_bytes(std::span(values_)));
  }
}

template <class Scalar>
SparseMatrix<Scalar> SparseMatrix<Scalar>::decode(ByteReader& reader, const std::string& name) {
  const auto rows = reader.get<std::uint32_t>();
  const auto cols = reader.get<std::uint32_t>();
  const auto count = reader.get<std::uint64_t>();
  const std::uint64_t num_places = std::uint64_t{rows} * cols;
  constexpr std::size_t kLeastBytes = 1 + (kIsWhole<Scalar> ? 1 : sizeof(Scalar));  // of an entry
  if (num_places > kMostPlaces || count > reader.remaining() / kLeastBytes) {
    throw ProtocolError(fmt::format("array '{}' claims {} entries of {} x {}, more than arrived",
                                    name, count, rows, cols));
  }
  SparseMatrix matrix(static_cast<Index>(rows), static_cast<Index>(cols));
  matrix.places_.reserve(count);
  std::uint64_t next = 0;  // the first place that is left
  for (std::uint64_t entry = 0; entry < count; ++entry) {
    const std::uint64_t distance = take_number(reader, name);
    if (next >= num_places || distance >= num_places - next) {
      throw ProtocolError(fmt::format("array '{}' has entries outside of it", name));
    }
    next += distance + 1;
    matrix.places_.push_back(static_cast<Index>(next - 1));
  }
  if constexpr (kIsWhole<Scalar>) {
    matrix.values_.reserve(count);
    for (std::uint64_t entry = 0; entry < count; ++entry) {
      matrix.values_.push_back(unfold_sign(take_number(reader, name)));
    }
  } else {
    const auto bytes = reader.take(count * sizeof(Scalar));
    matrix.values_.resize(count);
    if (!bytes.empty()) std::memcpy(matrix.values_.data(), bytes.data(), bytes.size());
  }
  return matrix;
}

template class SparseMatrix<float>;
template class SparseMatrix<std::int64_t>;
}  // namespace fedhur
