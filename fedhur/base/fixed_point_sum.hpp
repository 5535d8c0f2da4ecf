// Sums of tables that are the same to the last bit in any order and any grouping of their terms:
// 64-bit integers, in units of a power of two.
#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "fedhur/base/matrix.hpp"

namespace fedhur {
class FixedPointSum {
 public:
  // Room for `most_terms` tables (up to kMostTerms) without a number above `largest` in magnitude.
  // The unit is the smallest with which the sum cannot overflow: 2^-45 for 100 terms of at most
  // 1000.
  static constexpr Index kMostTerms = Index{1} << 24;
  FixedPointSum(Index rows, Index cols, double largest, Index most_terms);

  // Adds factor * table; the factor is in [0, 1]. Every number is rounded to the unit, once. May be
  // called from several threads.
  void add(const Matrix& table, Real factor = 1.0F);
  void add(const MatrixOf<double>& table);

  // The sum times a factor.
  [[nodiscard]] Matrix times(double factor) const;
  [[nodiscard]] MatrixOf<double> in_doubles() const;

 private:
  template <class Scalar>
  void add_scaled(const MatrixOf<Scalar>& table, double factor);
  static constexpr std::size_t kStripes = 16;  // of numbers, each with a lock of its own
  Index rows_;
  Index cols_;
  double scale_;  // units per 1
  std::vector<std::int64_t> sums_;
  std::array<std::mutex, kStripes> locks_;
};
}  // namespace fedhur
