// Who helps whom, small enough to be kept of every round: weights by blocks of clients and by size.
#pragma once
#include <span>
#include <vector>

#include "fedhur/base/named_arrays.hpp"

namespace fedhur::server {
// Weights by size, in equal shares 1/K: bin 0 has what is 0 or below the next, bin b what is from
// 2^((b - 17)/2) on; the last bin has no end.
inline constexpr Index kWeightBins = 37;
[[nodiscard]] Index weight_bin(double equal_shares);
[[nodiscard]] double first_of_weight_bin(Index bin);  // of bins above 0, in equal shares

struct WeightSummary {
  Matrix blocks;  // mean weight, a row per block of targets, a column per block of candidates
  Eigen::VectorXd counts;  // by bin, of the weights that targets give to others
  double own = 0.0;        // mean weight that targets give to themselves
  double common = 1.0;     // common_share()
};
// How much of the weights is common to all targets: the share of their variance around an equal
// share 1/K that the mean row explains, K sum_j (mean_k a_kj - 1/K)^2 / sum_kj (a_kj - 1/K)^2. 1
// where all rows are alike, those of equal weights among them.
[[nodiscard]] double common_share(const MatrixOf<double>& weights);

// Clients that stand for one row of the blocks, of which there are at most 128; the last block may
// have fewer.
[[nodiscard]] Index clients_per_block(Index num_clients);
[[nodiscard]] WeightSummary summarize_weights(const MatrixOf<double>& weights);

// The summaries of all scopes by level, as arrays: "weight_blocks" (level below level, means over
// scopes), "weight_counts" (a row per level, sums), "own_weights" and "common_weights" (a row per
// level, means).
// `levels` are those of the scopes, ascending from 0.
void put_summaries(NamedArrays& arrays, std::span<const WeightSummary> scopes,
                   std::span<const Index> levels);
// The same of the only scope there is.
void put_summary(NamedArrays& arrays, const WeightSummary& summary);
}  // namespace fedhur::server
