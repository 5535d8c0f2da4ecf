// The logistic function and what is made of it, safe for logits of any size.
#pragma once
#include <algorithm>
#include <cmath>

namespace fedhur::model {
[[nodiscard]] inline double softplus(double z) {
  return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
}
[[nodiscard]] inline double sigmoid(double z) { return 1.0 / (1.0 + std::exp(-z)); }

// A loss as a function of the logit, with its derivative.
struct LogitLoss {
  double value;
  double slope;
};

// Binary cross-entropy of sigmoid(logit) and a label in [0, 1].
[[nodiscard]] inline LogitLoss cross_entropy(double logit, double label) {
  return {(std::max(logit, 0.0) - logit * label) + std::log1p(std::exp(-std::abs(logit))),
          sigmoid(logit) - label};
}
}  // namespace fedhur::model
