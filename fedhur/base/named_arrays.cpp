#include "fedhur/base/named_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace fedhur {
namespace {
constexpr std::size_t kMaxArrays = 65535;
constexpr std::uint8_t kAsBefore = 255;  // in place of a type
constexpr std::array<std::uint8_t, std::variant_size_v<Array>> kTypes = {0, 1, 2, 6, 7};

template <class Scalar>
std::size_t size_behind_type(const MatrixOf<Scalar>& matrix) {
  return 2 * sizeof(std::uint32_t) + static_cast<std::size_t>(matrix.size()) * sizeof(Scalar);
}
template <class Scalar>
std::size_t size_behind_type(const SparseMatrix<Scalar>& matrix) {
  return matrix.encoded_size();
}

template <class Scalar>
void encode_behind_type(const MatrixOf<Scalar>& matrix, ByteSink& sink) {
  constexpr Index kMost = std::numeric_limits<std::uint32_t>::max();
  expects(matrix.rows() <= kMost && matrix.cols() <= kMost, "sides fit 32 bits");
  sink.put(static_cast<std::uint32_t>(matrix.rows()));
  sink.put(static_cast<std::uint32_t>(matrix.cols()));
  sink.put_bytes(std::as_bytes(std::span(matrix.data(), static_cast<std::size_t>(matrix.size()))));
}
template <class Scalar>
void encode_behind_type(const SparseMatrix<Scalar>& matrix, ByteSink& sink) {
  matrix.encode(sink);
}

template <class Scalar>
bool has_same_bits(const MatrixOf<Scalar>& left, const MatrixOf<Scalar>& right) {
  return left.rows() == right.rows() && left.cols() == right.cols() &&
         (left.size() == 0 ||
          std::memcmp(left.data(), right.data(),
                      static_cast<std::size_t>(left.size()) * sizeof(Scalar)) == 0);
}
template <class Scalar>
bool has_same_bits(const SparseMatrix<Scalar>& left, const SparseMatrix<Scalar>& right) {
  return left.is_same(right);
}

template <class T>
Array decode_matrix(ByteReader& reader, const std::string& name) {
  const auto rows = reader.get<std::uint32_t>();
  const auto cols = reader.get<std::uint32_t>();
  // Both factors are below 2^32, so the product cannot wrap; compare before multiplying by the
  // size.
  const std::uint64_t count = std::uint64_t{rows} * cols;
  if (count > reader.remaining() / sizeof(T)) {
    throw ProtocolError(
        fmt::format("array '{}' claims {} x {} values, more than arrived", name, rows, cols));
  }
  auto matrix = std::make_shared<MatrixOf<T>>(static_cast<Index>(rows), static_cast<Index>(cols));
  const auto bytes = reader.take(count * sizeof(T));
  if (!bytes.empty()) std::memcpy(matrix->data(), bytes.data(), bytes.size());
  return Shared<MatrixOf<T>>(std::move(matrix));
}

template <class T>
Array decode_sparse(ByteReader& reader, const std::string& name) {
  return std::make_shared<const SparseMatrix<T>>(SparseMatrix<T>::decode(reader, name));
}
}  // namespace

const Array* NamedArrays::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == entries_.end() ? nullptr : &found->second;
}

void NamedArrays::set(std::string name, Array array) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  if (found != entries_.end()) {
    found->second = std::move(array);
  } else {
    entries_.emplace_back(std::move(name), std::move(array));
  }
}

void NamedArrays::set_number(std::string name, double value) {
  set(std::move(name), MatrixOf<double>(MatrixOf<double>::Constant(1, 1, value)));
}

template <class T>
const Shared<T>& NamedArrays::get(std::string_view name) const {
  const Array* array = find(name);
  if (array == nullptr) throw ProtocolError(fmt::format("array '{}' is missing", name));
  const auto* matrix = std::get_if<Shared<T>>(array);
  if (matrix == nullptr) throw ProtocolError(fmt::format("array '{}' has the wrong type", name));
  return *matrix;
}

template const Shared<SparseMatrix<Real>>& NamedArrays::get(std::string_view) const;
template const Shared<SparseMatrix<std::int64_t>>& NamedArrays::get(std::string_view) const;

const Shared<Matrix>& NamedArrays::shared_matrix(std::string_view name) const {
  return get<Matrix>(name);
}
const MatrixOf<double>& NamedArrays::doubles(std::string_view name) const {
  return *get<MatrixOf<double>>(name);
}
const Shared<MatrixOf<std::int32_t>>& NamedArrays::shared_integers(std::string_view name) const {
  return get<MatrixOf<std::int32_t>>(name);
}

double NamedArrays::number(std::string_view name) const {
  const auto& value = doubles(name);
  if (value.size() != 1) {
    throw ProtocolError(fmt::format("'{}' has {} x {} values, expected one number", name,
                                    value.rows(), value.cols()));
  }
  return value(0, 0);
}

const Shared<Matrix>& NamedArrays::shaped_matrix(std::string_view name, Index rows,
                                                 Index cols) const {
  const Shared<Matrix>& value = shared_matrix(name);
  expect_shape(name, value->rows(), value->cols(), rows, cols);
  return value;
}

void NamedArrays::expect_shape(std::string_view name, Index actual_rows, Index actual_cols,
                               Index rows, Index cols) {
  if (actual_rows == rows && actual_cols == cols) return;
  throw ProtocolError(
      fmt::format("'{}' is {} x {}, expected {} x {}", name, actual_rows, actual_cols, rows, cols));
}

const Shared<Matrix>& NamedArrays::finite_matrix(std::string_view name, Index rows,
                                                 Index cols) const {
  const Shared<Matrix>& value = shaped_matrix(name, rows, cols);
  if (!is_finite(*value)) {
    throw ProtocolError(fmt::format("'{}' holds values that are not finite", name));
  }
  return value;
}

// Without their sign, floats are ordered as their bits are, infinity and NaN above all numbers.
// Without branches, so that the compiler looks at many at once.
bool is_within(const Matrix& matrix, Real bound) {
  constexpr std::uint32_t kMagnitude = 0x7fffffffU;
  const auto most = std::bit_cast<std::int32_t>(bound);
  std::uint32_t found = 0;
  for (Index i = 0; i < matrix.size(); ++i) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(matrix.data()[i]) & kMagnitude;
    found |= static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) > most);
  }
  return found == 0;
}

bool is_finite(const Matrix& matrix) { return is_within(matrix, std::numeric_limits<Real>::max()); }

Array decode_array(ByteReader& reader, std::uint8_t type, const std::string& name) {
  constexpr std::array kDecoders = {decode_matrix<Real>, decode_matrix<double>,
                                    decode_matrix<std::int32_t>, decode_sparse<Real>,
                                    decode_sparse<std::int64_t>};
  static_assert(kDecoders.size() == kTypes.size());
  const auto* const found = std::ranges::find(kTypes, type);
  if (found == kTypes.end()) {
    throw ProtocolError(fmt::format("array '{}' has the unknown type {}", name, type));
  }
  return kDecoders[static_cast<std::size_t>(found - kTypes.begin())](reader, name);
}

std::size_t encoded_size(const Array& array) {
  return 1 + std::visit([](const auto& matrix) { return size_behind_type(*matrix); }, array);
}

std::size_t encoded_size(const NamedArrays& arrays) {
  std::size_t size = sizeof(std::uint16_t);
  for (const auto& [name, array] : arrays.entries()) size += 1 + name.size() + encoded_size(array);
  return size;
}

bool is_same(const Array& a, const Array& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& left) {
        const auto& right = std::get<std::decay_t<decltype(left)>>(b);
        return left == right || has_same_bits(*left, *right);  // the first: one matrix, shared
      },
      a);
}

void encode(const Array& array, ByteSink& sink) {
  sink.put(kTypes[array.index()]);
  std::visit([&](const auto& matrix) { encode_behind_type(*matrix, sink); }, array);
}

void encode(const NamedArrays& arrays, ByteSink& sink, const NamedArrays* previous) {
  expects(arrays.size() <= kMaxArrays, "at most 65535 arrays");
  sink.put(static_cast<std::uint16_t>(arrays.size()));
  for (const auto& [name, array] : arrays.entries()) {
    sink.put_name(name);
    const Array* before = previous == nullptr ? nullptr : previous->find(name);
    if (before != nullptr && is_same(*before, array)) {
      sink.put(kAsBefore);
      continue;
    }
    encode(array, sink);
  }
}

NamedArrays decode_arrays(ByteReader& reader, const NamedArrays* previous) {
  NamedArrays arrays;
  const auto count = reader.get<std::uint16_t>();
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::string name = reader.get_name();
    if (arrays.contains(name)) throw ProtocolError(fmt::format("array '{}' comes twice", name));
    const auto type = reader.get<std::uint8_t>();
    const Array* before = previous == nullptr ? nullptr : previous->find(name);
    if (type == kAsBefore && before != nullptr) {
      arrays.set(name, *before);
      continue;
    }
    arrays.set(name, decode_array(reader, type, name));
  }
  return arrays;
}
}  // namespace fedhur
