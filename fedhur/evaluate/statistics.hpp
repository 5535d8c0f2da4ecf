// What a few numbers say together: means over seeds, whether a difference is one, and whether two
// quantities rise together.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace fedhur::evaluate {
struct Spread {
  double mean = 0.0;
  double deviation = 0.0;  // of the sample; 0 for fewer than two values
};
[[nodiscard]] Spread spread_of(std::span<const double> values);  // zeros if there is none

// Student's test on differences of pairs, two-sided.
struct PairedTest {
  double difference = 0.0;  // mean of a - b
  double t = 0.0;           // infinite where all differences are the same and not 0
  double p = 1.0;           // 1 for fewer than two pairs
  std::size_t pairs = 0;    // fewer than two say nothing about t and p

  [[nodiscard]] bool is_decided() const { return pairs > 1; }
};
// Both of one length: a[i] and b[i] were measured under the same conditions, such as one seed.
[[nodiscard]] PairedTest paired_test(std::span<const double> a, std::span<const double> b);

// Correlation from -1 to 1; 0 where either does not vary, or for fewer than two pairs.
[[nodiscard]] double pearson(std::span<const double> a, std::span<const double> b);
// Pearson's of the ranks; equal values share their mean rank.
[[nodiscard]] double spearman(std::span<const double> a, std::span<const double> b);
// From 1 for the smallest.
[[nodiscard]] std::vector<double> ranks_of(std::span<const double> values);
}  // namespace fedhur::evaluate
