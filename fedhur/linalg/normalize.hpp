// Scores to comparable scores, and to weights.
#pragma once
#include "fedhur/base/matrix.hpp"

namespace fedhur::linalg {
[[nodiscard]] Eigen::RowVectorXd squared_column_norms(ConstMatrixRef matrix);
// Every column to unit length; a zero column stays zero.
void normalize_columns(MatrixRef matrix);
// Every row to unit length; a zero row stays zero.
void normalize_rows(MatrixRef matrix);

// Norm_j: minus the mean, divided by the population standard deviation, which is returned. Values
// that are equal up to rounding become zeros, and the deviation returned is 0.
double standardize(Eigen::Ref<Eigen::VectorXd> values);

// exp(values / temperature), scaled to sum to one.
void softmax(Eigen::Ref<Eigen::VectorXd> values, double temperature);
// Weights without a temperature, the point of the probability simplex that is nearest to the
// scores: max(score - tau, 0) for the one tau that makes it sum to one. Adding a constant to all
// scores changes nothing. At least one score, all of them finite.
[[nodiscard]] Eigen::VectorXd project_on_simplex(const Eigen::VectorXd& scores);
}  // namespace fedhur::linalg
