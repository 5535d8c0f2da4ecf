#include "fedhur/evaluate/statistics.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unsupported/Eigen/SpecialFunctions>

#include "fedhur/base/error.hpp"

namespace fedhur::evaluate {
namespace {
// Student's distribution with `freedom` degrees: the probability of being beyond t on either side,
// which is the regularised incomplete beta function I_{f/(f+t^2)}(f/2, 1/2).
double two_sided_probability(double t, double freedom) {
  if (std::isinf(t)) return 0.0;
  return Eigen::numext::betainc(freedom / 2.0, 0.5, freedom / (freedom + t * t));
}
}  // namespace

Spread spread_of(std::span<const double> values) {
  Spread spread;
  if (values.empty()) return spread;
  const auto count = static_cast<double>(values.size());
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  if (values.size() > 1) spread.deviation = std::sqrt(squares / (count - 1.0));
  return spread;
}

PairedTest paired_test(std::span<const double> a, std::span<const double> b) {
  expects(a.size() == b.size(), "pairs have two sides");
  std::vector<double> differences(a.size());
  std::ranges::transform(a, b, differences.begin(), std::minus<>());
  const Spread spread = spread_of(differences);
  PairedTest test{.difference = spread.mean, .pairs = a.size()};
  if (a.size() < 2) return test;
  const auto count = static_cast<double>(a.size());
  if (spread.deviation > 0.0) {
    test.t = spread.mean / (spread.deviation / std::sqrt(count));
  } else if (spread.mean != 0.0) {
    test.t = std::copysign(std::numeric_limits<double>::infinity(), spread.mean);
  }
  test.p = two_sided_probability(test.t, count - 1.0);
  return test;
}

double pearson(std::span<const double> a, std::span<const double> b) {
  expects(a.size() == b.size(), "pairs have two sides");
  const double mean_a = spread_of(a).mean;
  const double mean_b = spread_of(b).mean;
  double product = 0.0;
  double squares_a = 0.0;
  double squares_b = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += (a[i] - mean_a) * (b[i] - mean_b);
    squares_a += (a[i] - mean_a) * (a[i] - mean_a);
    squares_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  const double scale = std::sqrt(squares_a) * std::sqrt(squares_b);
  return scale > 0.0 ? std::clamp(product / scale, -1.0, 1.0) : 0.0;
}

std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    const double rank = static_cast<double>(first + last) / 2.0 + 1.0;
    for (; first <= last; ++first) ranks[order[first]] = rank;
  }
  return ranks;
}

double spearman(std::span<const double> a, std::span<const double> b) {
  return pearson(ranks_of(a), ranks_of(b));
}
}  // namespace fedhur::evaluate
