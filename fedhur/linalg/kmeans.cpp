#include "fedhur/linalg/kmeans.hpp"

#include <algorithm>
#include <limits>

#include "fedhur/base/error.hpp"

namespace fedhur::linalg {
namespace {
using Squares = Eigen::VectorXd;

Squares squared_norms(ConstMatrixRef rows) { return rows.cast<double>().rowwise().squaredNorm(); }

// k-means++: each centre is a row drawn with probability in proportion to its squared distance to
// the centres there are.
Matrix draw_centres(ConstMatrixRef rows, const Squares& norms, Index num_groups, Rng& rng) {
  Matrix centres(num_groups, rows.cols());
  Index chosen = static_cast<Index>(rng.below(static_cast<std::uint64_t>(rows.rows())));
  Squares distances = Squares::Constant(rows.rows(), std::numeric_limits<double>::infinity());
  for (Index group = 0; group < num_groups; ++group) {
    centres.row(group) = rows.row(chosen);
    const Vector products = rows * rows.row(chosen).transpose();
    distances = distances.cwiseMin(
        (norms.array() - 2.0 * products.cast<double>().array() + norms(chosen)).max(0.0).matrix());
    distances(chosen) = 0.0;
    if (group + 1 == num_groups) break;
    double threshold = rng.uniform() * distances.sum();
    // Only copies of the centres are left: any other row will do, and an empty group is refilled.
    chosen = static_cast<Index>(rng.below(static_cast<std::uint64_t>(rows.rows())));
    for (Index row = 0; row < rows.rows(); ++row) {
      threshold -= distances(row);
      if (distances(row) > 0.0 && threshold < 0.0) {
        chosen = row;
        break;
      }
    }
  }
  return centres;
}

// The nearest centre of every row and the squared distance to it.
void assign(ConstMatrixRef rows, const Squares& norms, const Matrix& centres,
            std::vector<Index>& groups, Squares& distances) {
  const Squares centre_norms = squared_norms(centres);
  constexpr Index kRowsAtOnce = 512;
  for (Index first = 0; first < rows.rows(); first += kRowsAtOnce) {
    const Index count = std::min(kRowsAtOnce, rows.rows() - first);
    const Matrix products = rows.middleRows(first, count) * centres.transpose();
    for (Index i = 0; i < count; ++i) {
      double best = std::numeric_limits<double>::infinity();
      Index best_group = 0;
      for (Index group = 0; group < centres.rows(); ++group) {
        const double value = centre_norms(group) - 2.0 * static_cast<double>(products(i, group));
        if (value < best) {
          best = value;
          best_group = group;
        }
      }
      groups[static_cast<std::size_t>(first + i)] = best_group;
      distances(first + i) = std::max(0.0, best + norms(first + i));
    }
  }
}

// The farthest row of a group with company moves to the empty one.
void refill(std::vector<Index>& groups, Squares& distances, std::vector<Index>& sizes) {
  for (std::size_t empty = 0; empty < sizes.size(); ++empty) {
    if (sizes[empty] > 0) continue;
    Index farthest = -1;
    for (Index row = 0; row < distances.size(); ++row) {
      const Index group = groups[static_cast<std::size_t>(row)];
      if (sizes[static_cast<std::size_t>(group)] < 2) continue;
      if (farthest < 0 || distances(row) > distances(farthest)) farthest = row;
    }
    Index& group = groups[static_cast<std::size_t>(farthest)];
    --sizes[static_cast<std::size_t>(group)];
    group = static_cast<Index>(empty);
    sizes[empty] = 1;
    distances(farthest) = 0.0;
  }
}

Matrix mean_rows(ConstMatrixRef rows, const std::vector<Index>& groups,
                 const std::vector<Index>& sizes) {
  MatrixOf<double> sums = MatrixOf<double>::Zero(static_cast<Index>(sizes.size()), rows.cols());
  for (Index row = 0; row < rows.rows(); ++row) {
    sums.row(groups[static_cast<std::size_t>(row)]) += rows.row(row).cast<double>();
  }
  for (Index group = 0; group < sums.rows(); ++group) {
    sums.row(group) /= static_cast<double>(sizes[static_cast<std::size_t>(group)]);
  }
  return sums.cast<Real>();
}
}  // namespace

std::vector<Index> group_rows(ConstMatrixRef rows, Index num_groups, Index max_steps, Rng rng) {
  expects(num_groups >= 1 && num_groups <= rows.rows(), "there are as many rows as groups");
  const Squares norms = squared_norms(rows);
  Matrix centres = draw_centres(rows, norms, num_groups, rng);
  std::vector<Index> groups(static_cast<std::size_t>(rows.rows()), 0);
  std::vector<Index> before;
  Squares distances(rows.rows());
  for (Index step = 0; step < std::max<Index>(1, max_steps); ++step) {
    before = groups;
    assign(rows, norms, centres, groups, distances);
    std::vector<Index> sizes(static_cast<std::size_t>(num_groups), 0);
    for (const Index group : groups) ++sizes[static_cast<std::size_t>(group)];
    refill(groups, distances, sizes);
    if (step > 0 && groups == before) break;
    centres = mean_rows(rows, groups, sizes);
  }
  return groups;
}
}  // namespace fedhur::linalg
