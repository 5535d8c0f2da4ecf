// Matrices by name: the content of a message, and of what a client keeps for itself. A matrix that
// is in here does not change any more, so copies share it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fedhur/base/byte_stream.hpp"
#include "fedhur/base/matrix.hpp"
#include "fedhur/base/sparse_matrix.hpp"

namespace fedhur {
template <class T>
using Shared = std::shared_ptr<const T>;
using Array = std::variant<Shared<Matrix>, Shared<MatrixOf<double>>, Shared<MatrixOf<std::int32_t>>,
                           Shared<SparseMatrix<Real>>, Shared<SparseMatrix<std::int64_t>>>;

class NamedArrays {
 public:
  void set(std::string name, Array array);  // replaces one of the same name
  template <class Scalar>
  void set(std::string name, MatrixOf<Scalar> matrix) {
    set(std::move(name), Array(std::make_shared<const MatrixOf<Scalar>>(std::move(matrix))));
  }
  template <class Scalar>
  void set(std::string name, SparseMatrix<Scalar> matrix) {
    set(std::move(name), Array(std::make_shared<const SparseMatrix<Scalar>>(std::move(matrix))));
  }
  void set_number(std::string name, double value);

  [[nodiscard]] const Array* find(std::string_view name) const;  // nullptr if there is none
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // ProtocolError if there is none of that name and type.
  [[nodiscard]] const Matrix& matrix(std::string_view name) const { return *shared_matrix(name); }
  [[nodiscard]] const Shared<Matrix>& shared_matrix(std::string_view name) const;
  [[nodiscard]] const MatrixOf<double>& doubles(std::string_view name) const;
  [[nodiscard]] const MatrixOf<std::int32_t>& integers(std::string_view name) const {
    return *shared_integers(name);
  }
  [[nodiscard]] const Shared<MatrixOf<std::int32_t>>& shared_integers(std::string_view name) const;
  template <class Scalar>
  [[nodiscard]] const Shared<SparseMatrix<Scalar>>& shared_sparse(std::string_view name) const {
    return get<SparseMatrix<Scalar>>(name);
  }
  [[nodiscard]] double number(std::string_view name) const;  // a 1 x 1 matrix of doubles
  // As shared_matrix(), and ProtocolError unless it has this shape (and only finite values).
  [[nodiscard]] const Shared<Matrix>& shaped_matrix(std::string_view name, Index rows,
                                                    Index cols) const;
  [[nodiscard]] const Shared<Matrix>& finite_matrix(std::string_view name, Index rows,
                                                    Index cols) const;
  // As shared_sparse(), and ProtocolError unless it has this shape.
  template <class Scalar>
  [[nodiscard]] const Shared<SparseMatrix<Scalar>>& shaped_sparse(std::string_view name, Index rows,
                                                                  Index cols) const {
    const auto& value = shared_sparse<Scalar>(name);
    expect_shape(name, value->rows(), value->cols(), rows, cols);
    return value;
  }

  [[nodiscard]] const std::vector<std::pair<std::string, Array>>& entries() const {
    return entries_;
  }

 private:
  template <class T>
  [[nodiscard]] const Shared<T>& get(std::string_view name) const;
  static void expect_shape(std::string_view name, Index actual_rows, Index actual_cols, Index rows,
                           Index cols);
  std::vector<std::pair<std::string, Array>> entries_;  // in order of setting
};

// Same type, shape and bits.
[[nodiscard]] bool is_same(const Array& a, const Array& b);
[[nodiscard]] bool is_finite(const Matrix& matrix);
// No magnitude exceeds the bound; what is not finite does.
[[nodiscard]] bool is_within(const Matrix& matrix, Real bound);

// One array without its name: a type, then both sides and the values, or what a sparse one writes.
// Types are 0 float, 1 double, 2 integer, 6 sparse float, 7 sparse integer; a message has others.
[[nodiscard]] std::size_t encoded_size(const Array& array);
void encode(const Array& array, ByteSink& sink);
// After its type was read.
[[nodiscard]] Array decode_array(ByteReader& reader, std::uint8_t type, const std::string& name);

[[nodiscard]] std::size_t encoded_size(const NamedArrays& arrays);
// An array whose bits are those of the one of that name in `previous` is only mentioned: the tables
// that clients share are stored once.
void encode(const NamedArrays& arrays, ByteSink& sink, const NamedArrays* previous = nullptr);
// ProtocolError on anything that encode() would not have written; allocates no more than arrived.
[[nodiscard]] NamedArrays decode_arrays(ByteReader& reader, const NamedArrays* previous = nullptr);
}  // namespace fedhur
