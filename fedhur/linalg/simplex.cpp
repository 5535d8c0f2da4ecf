#include "fedhur/linalg/simplex.hpp"

#include <algorithm>
#include <functional>

#include "fedhur/base/error.hpp"

namespace fedhur::linalg {
Eigen::VectorXd project_on_simplex(const Eigen::VectorXd& scores) {
  expects(scores.size() > 0, "there is something to weigh");
  Eigen::VectorXd descending = scores;
  std::sort(descending.begin(), descending.end(), std::greater<>());
  double sum = 0.0;
  double tau = 0.0;
  for (Index count = 1; count <= descending.size(); ++count) {
    // The largest so many scores are the support as long as the smallest of them stays above tau.
    sum += descending(count - 1);
    const double next = (sum - 1.0) / static_cast<double>(count);
    if (descending(count - 1) <= next) break;
    tau = next;
  }
  return (scores.array() - tau).max(0.0);
}
}  // namespace fedhur::linalg
