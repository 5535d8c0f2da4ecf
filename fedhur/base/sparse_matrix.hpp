// A matrix that is mostly zeros: the entries that are there, in the order of their places.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fedhur/base/byte_stream.hpp"
#include "fedhur/base/index.hpp"

namespace fedhur {
template <class Scalar>
class SparseMatrix {
 public:
  SparseMatrix() = default;
  SparseMatrix(Index rows, Index cols);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] std::size_t num_entries() const { return values_.size(); }
  // Of the entries: row * cols() + column, ascending. The memory is that of the entries, however
  // many rows there are.
  [[nodiscard]] const std::vector<Index>& places() const { return places_; }
  [[nodiscard]] const std::vector<Scalar>& values() const { return values_; }
  [[nodiscard]] Index row_of(std::size_t entry) const { return places_[entry] / cols_; }
  [[nodiscard]] Index col_of(std::size_t entry) const { return places_[entry] % cols_; }
  // The first entry of this row or of a later one.
  [[nodiscard]] std::size_t begin_of(Index row) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(places_, row * cols_) -
                                    places_.begin());
  }

  void reserve(std::size_t num_entries);
  // Behind all that are there.
  void append(Index row, Index col, Scalar value) { append(row * cols_ + col, value); }
  void append(Index place, Scalar value) {
    expects(place >= 0 && place < rows_ * cols_ && (places_.empty() || place > places_.back()),
            "entries are appended in order");
    places_.push_back(place);
    values_.push_back(value);
  }

  // To the last bit.
  [[nodiscard]] bool is_same(const SparseMatrix& other) const;

  // Both sides, the number of entries, the distance of each place from the one before, the values.
  // Distances and whole numbers take seven bits a byte, so small ones are short.
  [[nodiscard]] std::size_t encoded_size() const;
  void encode(ByteSink& sink) const;
  // ProtocolError on anything that encode() would not have written; allocates no more than a few
  // times what arrived.
  [[nodiscard]] static SparseMatrix decode(ByteReader& reader, const std::string& name);

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  std::vector<Index> places_;
  std::vector<Scalar> values_;
};
extern template class SparseMatrix<float>;
extern template class SparseMatrix<std::int64_t>;
}  // namespace fedhur
