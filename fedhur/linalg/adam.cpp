#include "fedhur/linalg/adam.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/error.hpp"

namespace fedhur::linalg {
RowGradient::RowGradient(Index num_rows, Index num_cols)
    : slots_(static_cast<std::size_t>(num_rows), -1), values_(0, num_cols) {}

void RowGradient::touch(Index row) {
  auto& slot = slots_[static_cast<std::size_t>(row)];
  if (slot >= 0) return;
  slot = static_cast<std::int32_t>(touched_.size());
  touched_.push_back(static_cast<std::int32_t>(row));
  if (slot >= values_.rows()) {
    const Index wanted = std::min(num_rows(), std::max<Index>(64, 2 * values_.rows()));
    values_.conservativeResize(wanted, Eigen::NoChange);
  }
  values_.row(slot).setZero();
}

void RowGradient::add(ConstMatrixRef everywhere) {
  expects(everywhere.rows() == num_rows() && everywhere.cols() == values_.cols(),
          "the gradients have one shape");
  for (Index row = 0; row < num_rows(); ++row) {
    touch(row);
    values_.row(slots_[static_cast<std::size_t>(row)]) += everywhere.row(row);
  }
}

void RowGradient::clear() {
  for (const std::int32_t row : touched_) slots_[static_cast<std::size_t>(row)] = -1;
  touched_.clear();
}

Adam::Adam(Index num_rows, Index num_cols, const AdamConfig& config)
    : config_(config),
      num_rows_(num_rows),
      has_moved_(static_cast<std::size_t>(num_rows), 0),
      first_(0, num_cols),
      second_(0, num_cols) {}

void Adam::note_moved(Index row) {
  has_moved_[static_cast<std::size_t>(row)] = 1;
  const Index slot = num_moved();
  moved_.push_back(static_cast<std::int32_t>(row));
  if (slot >= first_.rows()) {
    const Index room = std::min(num_rows_, std::max<Index>(64, slot + slot / 2));
    first_.conservativeResize(room, Eigen::NoChange);
    second_.conservativeResize(room, Eigen::NoChange);
  }
  first_.row(slot).setZero();
  second_.row(slot).setZero();
}

void Adam::step(MatrixRef parameters, const RowGradient& gradient, Real learning_rate) {
  expects(parameters.rows() == num_rows_ && parameters.cols() == first_.cols(),
          "parameters have the optimiser's shape");
  ++num_steps_;
  const auto steps = static_cast<double>(num_steps_);
  const AdamStep shared{
      .beta1 = config_.beta1,
      .beta2 = config_.beta2,
      .epsilon = config_.epsilon,
      .rate = static_cast<Real>(static_cast<double>(learning_rate) /
                                (1.0 - std::pow(static_cast<double>(config_.beta1), steps))),
      .second_scale =
          static_cast<Real>(1.0 / (1.0 - std::pow(static_cast<double>(config_.beta2), steps)))};
  if (config_.weight_decay != 0) {
    step_decayed(parameters, gradient, shared);
    return;
  }
  for (const std::int32_t row : gradient.touched()) {
    if (has_moved_[static_cast<std::size_t>(row)] == 0) note_moved(row);
  }
  // Zero moments and a zero gradient move nothing: leaving such rows out is exact.
  for (Index slot = 0; slot < num_moved(); ++slot) {
    const Index row = moved_[static_cast<std::size_t>(slot)];
    adam_row(parameters.row(row).data(), first_.row(slot).data(), second_.row(slot).data(),
             gradient.find(row), first_.cols(), shared);
  }
}

void Adam::step_decayed(MatrixRef parameters, const RowGradient& gradient, const AdamStep& shared) {
  for (Index row = 0; num_moved() < num_rows_; ++row) {
    if (has_moved_[static_cast<std::size_t>(row)] == 0) note_moved(row);
  }
  const Index num_cols = first_.cols();
  std::vector<Real> decayed(static_cast<std::size_t>(num_cols));
  for (Index slot = 0; slot < num_rows_; ++slot) {
    const Index row = moved_[static_cast<std::size_t>(slot)];
    Real* theta = parameters.row(row).data();
    const Real* g = gradient.find(row);
    for (Index i = 0; i < num_cols; ++i) {
      decayed[static_cast<std::size_t>(i)] =
          config_.weight_decay * theta[i] + (g == nullptr ? 0.0F : g[i]);
    }
    adam_row(theta, first_.row(slot).data(), second_.row(slot).data(), decayed.data(), num_cols,
             shared);
  }
}

void Adam::reset() {
  moved_.clear();
  std::fill(has_moved_.begin(), has_moved_.end(), 0);
  num_steps_ = 0;
}

Adam::State Adam::save() const {
  State state{.rows = MatrixOf<std::int32_t>(1, num_moved()),
              .first_moments = first_.topRows(num_moved()),
              .second_moments = second_.topRows(num_moved()),
              .num_steps = num_steps_};
  std::copy(moved_.begin(), moved_.end(), state.rows.data());
  return state;
}

void Adam::restore(const State& state) {
  const Index count = state.rows.size();
  expects(state.first_moments.rows() == count && state.second_moments.rows() == count &&
              state.first_moments.cols() == first_.cols() &&
              state.second_moments.cols() == first_.cols(),
          "moments have the optimiser's shape");
  reset();
  for (Index i = 0; i < count; ++i) {
    const std::int32_t row = state.rows(0, i);
    expects(row >= 0 && row < num_rows_ && has_moved_[static_cast<std::size_t>(row)] == 0,
            "moments are of rows of the table, once each");
    note_moved(row);
  }
  first_.topRows(count) = state.first_moments;
  second_.topRows(count) = state.second_moments;
  num_steps_ = state.num_steps;
}

void descend(MatrixRef parameters, const RowGradient& gradient, Real learning_rate,
             Real weight_decay) {
  expects(parameters.rows() == gradient.num_rows(), "the gradient is of these parameters");
  const Index num_cols = parameters.cols();
  if (weight_decay != 0) parameters *= 1 - learning_rate * weight_decay;
  for (const std::int32_t row : gradient.touched()) {
    Real* theta = parameters.row(row).data();
    const Real* g = gradient.find(row);
    for (Index i = 0; i < num_cols; ++i) theta[i] -= learning_rate * g[i];
  }
}
}  // namespace fedhur::linalg
