#include "fedhur/base/fixed_point_sum.hpp"

#include <bit>
#include <cmath>

#include "fedhur/base/error.hpp"
#include "fedhur/base/wide.hpp"

namespace fedhur {
namespace {
// The least e with value <= 2^e.
int exponent_of(double value) {
  if (value == 0.0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // in [0.5, 1)
  return mantissa == 0.5 ? exponent - 1 : exponent;
}

// A double of this magnitude has a unit of 1 in its last place, so adding it rounds what is below
// 2^51 to an integer, which then stands in the last bits. Larger numbers take two steps. That is as
// exact as a conversion, and more of it fits into a register.
constexpr double kRounder = 0x1.8p52;
constexpr int kLowBits = 26;
constexpr int kMostBits = 62;

template <class Scalar>
inline __attribute__((always_inline)) void add_rounded(std::int64_t* __restrict sums,
                                                       const Scalar* __restrict numbers,
                                                       double scale, Index count) {
  for (Index i = 0; i < count; ++i) {
    const double number = static_cast<double>(numbers[i]) * scale;
    const double high = number * 0x1p-26 + kRounder;
    const double low = number - (high - kRounder) * 0x1p26 + kRounder;
    sums[i] += (std::bit_cast<std::int64_t>(high) - std::bit_cast<std::int64_t>(kRounder))
               << kLowBits;
    sums[i] += std::bit_cast<std::int64_t>(low) - std::bit_cast<std::int64_t>(kRounder);
  }
}
FEDHUR_WIDE void add_numbers(std::int64_t* sums, const float* numbers, double scale, Index count) {
  add_rounded(sums, numbers, scale, count);
}
FEDHUR_WIDE void add_numbers(std::int64_t* sums, const double* numbers, double scale, Index count) {
  add_rounded(sums, numbers, scale, count);
}
}  // namespace

FixedPointSum::FixedPointSum(Index rows, Index cols, double most)
    : rows_(rows), cols_(cols), sums_(static_cast<std::size_t>(rows * cols), 0) {
  expects(std::isfinite(most) && most >= 0.0, "the largest number of a sum is finite");
  scale_ = std::ldexp(1.0, kMostBits - exponent_of(most));
}

template <class Scalar>
void FixedPointSum::add_scaled(const MatrixOf<Scalar>& table, double factor) {
  expects(table.rows() == rows_ && table.cols() == cols_, "a term has the shape of its sum");
  // All threads take the stripes in one order, so that they follow each other through the table.
  for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
    const std::size_t first = sums_.size() * stripe / kStripes;
    const std::size_t last = sums_.size() * (stripe + 1) / kStripes;
    const std::lock_guard lock(locks_[stripe]);
    add_numbers(sums_.data() + first, table.data() + first, factor * scale_,
                static_cast<Index>(last - first));
  }
}

// Both products are exact, since a float has 24 bits and the scale is a power of two. So each
// number is rounded once, and alike with and without fused multiplication.
void FixedPointSum::add(const Matrix& table, Real factor) {
  expects(factor >= 0.0F && factor <= 1.0F, "the factor of a term is in [0, 1]");
  add_scaled(table, static_cast<double>(factor));
}

void FixedPointSum::add(const MatrixOf<double>& table) { add_scaled(table, 1.0); }

Matrix FixedPointSum::times(double factor) const {
  const double unit = factor / scale_;
  Matrix result(rows_, cols_);
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    result.data()[i] = static_cast<Real>(static_cast<double>(sums_[i]) * unit);
  }
  return result;
}

MatrixOf<double> FixedPointSum::in_doubles() const {
  MatrixOf<double> result(rows_, cols_);
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    result.data()[i] = static_cast<double>(sums_[i]) / scale_;
  }
  return result;
}
}  // namespace fedhur
