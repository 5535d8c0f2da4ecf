// Adam with dense semantics: rows without a gradient in this step still decay and still move.
#pragma once
#include <cstdint>
#include <vector>

#include "fedhur/base/matrix.hpp"

namespace fedhur::linalg {
// The gradient of a table of which one batch touches few rows. Untouched rows have gradient zero.
class RowGradient {
 public:
  RowGradient(Index num_rows, Index num_cols);
  [[nodiscard]] Index num_rows() const { return static_cast<Index>(slots_.size()); }
  // Makes `row` part of the gradient, zero at first. The address of a row is good until the next
  // touch() of a new one.
  void touch(Index row);
  [[nodiscard]] Real* row(Index row) {
    return values_.row(slots_[static_cast<std::size_t>(row)]).data();
  }
  [[nodiscard]] const Real* find(Index row) const {  // nullptr if untouched
    const std::int32_t slot = slots_[static_cast<std::size_t>(row)];
    return slot < 0 ? nullptr : values_.row(slot).data();
  }
  void clear();

 private:
  std::vector<std::int32_t> slots_;  // row of values_, or -1
  std::vector<std::int32_t> touched_;
  Matrix values_;
};

struct AdamConfig {
  Real beta1 = 0.9F;
  Real beta2 = 0.999F;
  Real epsilon = 1e-8F;
};

class Adam {
 public:
  Adam(Index num_rows, Index num_cols, const AdamConfig& config = {});
  void step(MatrixRef parameters, const RowGradient& gradient, Real learning_rate);

  [[nodiscard]] const Matrix& first_moments() const { return first_; }
  [[nodiscard]] const Matrix& second_moments() const { return second_; }
  [[nodiscard]] std::int64_t num_steps() const { return num_steps_; }
  void restore(Matrix first_moments, Matrix second_moments, std::int64_t num_steps);

 private:
  AdamConfig config_;
  Matrix first_;
  Matrix second_;
  std::int64_t num_steps_ = 0;
  std::vector<char> moved_;  // rows that ever had a gradient; the others have zero moments
};
}  // namespace fedhur::linalg
