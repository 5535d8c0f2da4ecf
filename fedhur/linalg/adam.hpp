// Adam with dense semantics: rows without a gradient in this step still decay and still move.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fedhur/base/matrix.hpp"
#include "fedhur/linalg/kernels.hpp"

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
  void add(ConstMatrixRef everywhere);  // a gradient of every row
  void clear();
  // The rows of the gradient, in the order in which they were first touched.
  [[nodiscard]] const std::vector<std::int32_t>& touched() const { return touched_; }

 private:
  std::vector<std::int32_t> slots_;  // row of values_, or -1
  std::vector<std::int32_t> touched_;
  Matrix values_;
};

struct AdamConfig {
  Real beta1 = 0.9F;
  Real beta2 = 0.999F;
  Real epsilon = 1e-8F;
  Real weight_decay = 0.0F;  // times the parameter, added to the gradient of every entry
};

// Moments are kept for the rows that ever had a gradient: those of the others are zero, and where a
// client touches few of very many items, storing them would be most of its memory.
class Adam {
 public:
  Adam(Index num_rows, Index num_cols, const AdamConfig& config = {});
  void step(MatrixRef parameters, const RowGradient& gradient, Real learning_rate);
  [[nodiscard]] std::int64_t num_steps() const { return num_steps_; }
  void reset();  // as if no step had been taken

  struct State {
    MatrixOf<std::int32_t> rows;  // 1 x m, in the order of their first gradient
    Matrix first_moments;         // m x num_cols
    Matrix second_moments;
    std::int64_t num_steps = 0;
  };
  [[nodiscard]] State save() const;
  void restore(const State& state);

 private:
  void note_moved(Index row);
  void step_decayed(MatrixRef parameters, const RowGradient& gradient, const AdamStep& shared);
  [[nodiscard]] Index num_moved() const { return static_cast<Index>(moved_.size()); }
  AdamConfig config_;
  Index num_rows_;
  std::vector<char> has_moved_;      // by row
  std::vector<std::int32_t> moved_;  // rows with moments; the place in here is the row below
  Matrix first_;                     // with room for more rows than have moved
  Matrix second_;
  std::int64_t num_steps_ = 0;
};

// One step of plain gradient descent; the decay is on every entry, as Adam's is.
void descend(MatrixRef parameters, const RowGradient& gradient, Real learning_rate,
             Real weight_decay);

// To and from anything that keeps arrays by name.
template <class Store>
void save_adam(Store& store, const std::string& name, const Adam& optimizer) {
  Adam::State state = optimizer.save();
  store.set(name + "_rows", std::move(state.rows));
  store.set(name + "_first_moments", std::move(state.first_moments));
  store.set(name + "_second_moments", std::move(state.second_moments));
  store.set_number(name + "_steps", static_cast<double>(state.num_steps));
}
template <class Store>
void restore_adam(const Store& store, const std::string& name, Adam& optimizer) {
  optimizer.restore({.rows = store.integers(name + "_rows"),
                     .first_moments = store.matrix(name + "_first_moments"),
                     .second_moments = store.matrix(name + "_second_moments"),
                     .num_steps = static_cast<std::int64_t>(store.number(name + "_steps"))});
}
}  // namespace fedhur::linalg
