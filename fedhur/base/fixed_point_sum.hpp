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
  // No number of the sum, nor of the sum of some of its terms, exceeds `most` in magnitude. The
  // unit is the smallest with which that cannot overflow: 2^-62 times `most`, or times the next
  // power of two.
  FixedPointSum(Index rows, Index cols, double most);

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
