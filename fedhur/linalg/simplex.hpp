// Weights from scores without a temperature: the nearest point of the probability simplex.
#pragma once
#include "fedhur/base/matrix.hpp"

namespace fedhur::linalg {
// The x with x >= 0 and sum x = 1 that is nearest to the scores: max(score - tau, 0) for the one
// tau that makes it sum to one. Adding a constant to all scores changes nothing. At least one
// score, all of them finite.
[[nodiscard]] Eigen::VectorXd project_on_simplex(const Eigen::VectorXd& scores);
}  // namespace fedhur::linalg
