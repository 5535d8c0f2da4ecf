// What a client keeps: it can be written to the client's own disk, and nothing turns it into a
// Message.
#pragma once
#include <cstdint>
#include <string>

#include "fedhur/base/named_arrays.hpp"

namespace fedhur::client {
class PrivateState {
 public:
  PrivateState() = default;
  explicit PrivateState(std::string kind) : kind_(std::move(kind)) {}
  [[nodiscard]] const std::string& kind() const { return kind_; }

  template <class T>
  void set(std::string name, T array) {  // a matrix, or one that is shared
    arrays_.set(std::move(name), std::move(array));
  }
  void set_number(std::string name, double value) { arrays_.set_number(std::move(name), value); }
  [[nodiscard]] const Matrix& matrix(std::string_view name) const { return arrays_.matrix(name); }
  [[nodiscard]] const Shared<Matrix>& shared_matrix(std::string_view name) const {
    return arrays_.shared_matrix(name);
  }
  [[nodiscard]] const MatrixOf<std::int32_t>& integers(std::string_view name) const {
    return arrays_.integers(name);
  }
  [[nodiscard]] const Shared<SparseMatrix<Real>>& shared_sparse(std::string_view name) const {
    return arrays_.shared_sparse<Real>(name);
  }
  [[nodiscard]] double number(std::string_view name) const { return arrays_.number(name); }

  // To and from the client's own files. What equals `previous` is stored as a mention of it.
  void write(ByteSink& sink, const PrivateState* previous) const;
  [[nodiscard]] static PrivateState read(ByteReader& reader, const PrivateState* previous);

 private:
  std::string kind_;
  NamedArrays arrays_;
};
}  // namespace fedhur::client
