// The sparse item filter: for every item a ridge regression on its neighbours, from nothing but a
// sum of co-occurrences. Without a limit on the neighbours it is EASE with weighted users and a
// stronger regularisation of frequent items.
#pragma once
#include <cstdint>

#include "fedhur/base/matrix.hpp"
#include "fedhur/base/named_arrays.hpp"
#include "fedhur/base/parallel.hpp"

namespace fedhur::server {
using CoOccurrences = SparseMatrix<std::int64_t>;  // upper triangle with its diagonal

struct SparseFilterConfig {
  Index neighbors = 200;         // m; 0: all items, which takes a dense matrix
  double regularization = 20.0;  // lambda
  double denoising = 1.0;        // delta, of an item's own count
  // gamma: the scores of item j are multiplied by its own count to the power of -gamma.
  double popularity_correction = 0.0;
  bool positive = false;  // weights below 0 are left out
};

// Entry (i, j) is what item i in a user's history adds to the score of item j. `unit` is what one
// co-occurrence of weight 1 counts.
[[nodiscard]] SparseMatrix<Real> fit_sparse_filter(const CoOccurrences& sum, double unit,
                                                   const SparseFilterConfig& config,
                                                   const Executor& executor);
}  // namespace fedhur::server
