// A sum of sparse matrices of integers, whose terms come one after the other and in any order.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "fedhur/base/named_arrays.hpp"

namespace fedhur {
class SparseSum {
 public:
  SparseSum(Index rows, Index cols) : rows_(rows), cols_(cols) {}
  // May be called from several threads. Sums that exceed 63 bits are the caller's mistake.
  void add(Shared<SparseMatrix<std::int64_t>> term);
  // What was added so far; afterwards the sum is empty.
  [[nodiscard]] Shared<SparseMatrix<std::int64_t>> take();

 private:
  Index rows_;
  Index cols_;
  std::mutex lock_;
  // Partial sums of 1, 2, 4, ... terms, or null: a term meets those of its size only, so that
  // nothing is copied more often than the logarithm of the number of terms.
  std::vector<Shared<SparseMatrix<std::int64_t>>> partial_;
};
}  // namespace fedhur
