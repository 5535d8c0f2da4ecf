#include "fedhur/linalg/adam.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/error.hpp"
#include "fedhur/linalg/kernels.hpp"

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

void RowGradient::clear() {
  for (const std::int32_t row : touched_) slots_[static_cast<std::size_t>(row)] = -1;
  touched_.clear();
}

Adam::Adam(Index num_rows, Index num_cols, const AdamConfig& config)
    : config_(config),
      first_(Matrix::Zero(num_rows, num_cols)),
      second_(Matrix::Zero(num_rows, num_cols)),
      moved_(static_cast<std::size_t>(num_rows), 0) {}

void Adam::step(MatrixRef parameters, const RowGradient& gradient, Real learning_rate) {
  expects(parameters.rows() == first_.rows() && parameters.cols() == first_.cols(),
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
  for (Index row = 0; row < first_.rows(); ++row) {
    const Real* row_gradient = gradient.find(row);
    char& moved = moved_[static_cast<std::size_t>(row)];
    if (row_gradient != nullptr) moved = 1;
    // Zero moments and a zero gradient move nothing: skipping such a row is exact.
    if (moved == 0) continue;
    adam_row(parameters.row(row).data(), first_.row(row).data(), second_.row(row).data(),
             row_gradient, first_.cols(), shared);
  }
}

void Adam::restore(Matrix first_moments, Matrix second_moments, std::int64_t num_steps) {
  expects(first_moments.rows() == first_.rows() && first_moments.cols() == first_.cols() &&
              second_moments.rows() == first_.rows() && second_moments.cols() == first_.cols(),
          "moments have the optimiser's shape");
  first_ = std::move(first_moments);
  second_ = std::move(second_moments);
  num_steps_ = num_steps;
  for (Index row = 0; row < first_.rows(); ++row) {
    moved_[static_cast<std::size_t>(row)] =
        first_.row(row).isZero(0) && second_.row(row).isZero(0) ? 0 : 1;
  }
}
}  // namespace fedhur::linalg
