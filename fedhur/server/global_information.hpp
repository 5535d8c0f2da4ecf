// Eq. (global_information): what all clients have in common, from their uploads alone.
#pragma once
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/named_arrays.hpp"
#include "fedhur/base/parallel.hpp"
#include "fedhur/base/random.hpp"

namespace fedhur::server {
using Uploads = std::vector<Shared<Matrix>>;  // item embeddings, one table per client

struct GlobalFilterConfig {
  Index rank = 0;  // r; 0: the width of the embeddings
  Index passes = 2;
  Index first_passes = 5;
};
void declare_settings(Settings& settings, GlobalFilterConfig& config);

// The leading eigenpairs of S_g = mean_k E_k E_k^T.
struct GlobalFilter {
  Matrix basis;             // V, n x r, orthonormal columns; zero columns beyond the rank of S_g
  Eigen::VectorXd values;   // Lambda, descending, not negative
  double trace_kept = 0.0;  // share of the trace of S_g in these values

  // V Lambda^(1/2), the form in which it is sent.
  [[nodiscard]] Matrix factor() const;
};

// Rayleigh-Ritz for a symmetric operator in the span of Q (orthonormal columns), of which `product`
// is the image: as many eigenpairs as there are positive ones, at most `rank`; the rest is zero.
[[nodiscard]] GlobalFilter positive_ritz_pairs(const Matrix& Q, const Matrix& product, Index rank);

// E_g = mean_k E_k; uniform, not by data size. The same bits for any order of the clients, as S_g.
[[nodiscard]] Matrix average_embeddings(const Uploads& uploads, const Executor& executor);

// Block subspace iteration from `start` (the last round's basis; empty in the first round, where
// it begins at random).
[[nodiscard]] GlobalFilter compute_global_filter(const Uploads& uploads,
                                                 const GlobalFilterConfig& config,
                                                 const Matrix& start, Rng rng,
                                                 const Executor& executor);

// The leading positive eigenpairs of S + rate (S_g - S), where S = T T^T is what was sent last:
// Rayleigh-Ritz in the span of T and of what the operator makes of it, after `config.passes` - 1
// further applications. Not all of the operator is positive, so `trace_kept` may exceed 1.
[[nodiscard]] GlobalFilter step_global_filter(const Uploads& uploads,
                                              const GlobalFilterConfig& config, const Matrix& T,
                                              Real rate, const Executor& executor);
}  // namespace fedhur::server
