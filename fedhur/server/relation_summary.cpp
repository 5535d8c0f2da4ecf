#include "fedhur/server/relation_summary.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fedhur/base/error.hpp"

namespace fedhur::server {
namespace {
constexpr Index kMostBlocks = 128;  // more than a picture of them can show
constexpr Index kEqualShareBin = 17;

Index num_blocks(Index num_clients) {
  const Index size = clients_per_block(num_clients);
  return (num_clients + size - 1) / size;
}
}  // namespace

// Without a logarithm: it is asked for every pair of clients in every scope.
Index weight_bin(double equal_shares) {
  if (!(equal_shares > 0.0)) return 0;
  int exponent = 0;
  const double fraction = std::frexp(equal_shares, &exponent);  // in [1/2, 1)
  const Index half_octaves =
      2 * (Index{exponent} - 1) + (fraction >= 0.5 * std::numbers::sqrt2 ? 1 : 0);
  return std::clamp<Index>(half_octaves + kEqualShareBin, 0, kWeightBins - 1);
}

double first_of_weight_bin(Index bin) {
  return std::exp2(0.5 * static_cast<double>(bin - kEqualShareBin));
}

Index clients_per_block(Index num_clients) {
  return std::max<Index>(1, (num_clients + kMostBlocks - 1) / kMostBlocks);
}

double common_share(const MatrixOf<double>& weights) {
  const double equal_share = 1.0 / static_cast<double>(weights.cols());
  const double all = (weights.array() - equal_share).square().sum();
  const Eigen::RowVectorXd mean = weights.colwise().mean();
  const double between = (weights.rowwise() - mean).squaredNorm();
  constexpr double kRounding = 1e-24;  // of K^2 weights of 1/K
  return between > kRounding ? std::max(0.0, 1.0 - between / all) : 1.0;
}

WeightSummary summarize_weights(const MatrixOf<double>& weights) {
  const Index K = weights.rows();
  expects(K > 0 && weights.cols() == K, "weights are of all targets for all candidates");
  const Index size = clients_per_block(K);
  MatrixOf<double> sums = MatrixOf<double>::Zero(num_blocks(K), num_blocks(K));
  WeightSummary summary{.blocks = {}, .counts = Eigen::VectorXd::Zero(kWeightBins)};
  for (Index target = 0; target < K; ++target) {
    for (Index candidate = 0; candidate < K; ++candidate) {
      const double weight = weights(target, candidate);
      sums(target / size, candidate / size) += weight;
      if (candidate != target) {
        summary.counts(weight_bin(weight * static_cast<double>(K))) += 1.0;
      }
    }
  }
  for (Index row = 0; row < sums.rows(); ++row) {
    for (Index col = 0; col < sums.cols(); ++col) {
      const Index pairs = std::min(size, K - row * size) * std::min(size, K - col * size);
      sums(row, col) /= static_cast<double>(pairs);
    }
  }
  summary.blocks = sums.cast<Real>();
  summary.own = weights.diagonal().mean();
  summary.common = common_share(weights);
  return summary;
}

void put_summaries(NamedArrays& arrays, std::span<const WeightSummary> scopes,
                   std::span<const Index> levels) {
  expects(!scopes.empty() && scopes.size() == levels.size(), "every scope has a level");
  const Index num_levels = levels.back() + 1;
  const Index side = scopes.front().blocks.rows();
  MatrixOf<double> blocks = MatrixOf<double>::Zero(num_levels * side, side);
  MatrixOf<double> counts = MatrixOf<double>::Zero(num_levels, kWeightBins);
  MatrixOf<double> own = MatrixOf<double>::Zero(num_levels, 1);
  MatrixOf<double> common = MatrixOf<double>::Zero(num_levels, 1);
  for (std::size_t s = 0; s < scopes.size(); ++s) {
    const Index level = levels[s];
    const double share = 1.0 / static_cast<double>(std::ranges::count(levels, level));
    blocks.middleRows(level * side, side) += share * scopes[s].blocks.cast<double>();
    counts.row(level) += scopes[s].counts.transpose();
    own(level) += share * scopes[s].own;
    common(level) += share * scopes[s].common;
  }
  arrays.set("weight_blocks", Matrix(blocks.cast<Real>()));
  arrays.set("weight_counts", std::move(counts));
  arrays.set("own_weights", std::move(own));
  arrays.set("common_weights", std::move(common));
}

void put_summary(NamedArrays& arrays, const WeightSummary& summary) {
  constexpr Index kOnlyLevel = 0;
  put_summaries(arrays, {&summary, 1}, {&kOnlyLevel, 1});
}
}  // namespace fedhur::server
