#include "fedhur/evaluate/breakdown.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "fedhur/base/error.hpp"

namespace fedhur::evaluate {
namespace {
enum Column : Index { truths, hits, recommended };

bool have_one_shape(const MatrixOf<double>& a, const MatrixOf<double>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols();
}

// A hit is a test row and a recommended item.
bool are_item_counts(const MatrixOf<double>& rows) {
  constexpr double kMostRows = 1e15;  // a double still tells it from the next
  return rows.allFinite() && rows.minCoeff() >= 0.0 && rows.maxCoeff() <= kMostRows &&
         (rows.col(hits).array() <= rows.col(truths).array()).all() &&
         (rows.col(hits).array() <= rows.col(recommended).array()).all();
}
}  // namespace

ItemBins bin_items(const std::vector<Index>& train_counts) {
  std::vector<std::size_t> order(train_counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t item) { return train_counts[item]; });
  const Index total = std::accumulate(train_counts.begin(), train_counts.end(), Index{0});
  ItemBins bins(train_counts.size(), kPopularityBins - 1);
  Index rows_before = 0;
  for (const std::size_t item : order) {
    if (total > 0) {
      const Index bin = kPopularityBins * rows_before / total;
      bins[item] = static_cast<std::uint8_t>(std::min(bin, kPopularityBins - 1));
    }
    rows_before += train_counts[item];
  }
  return bins;
}

Index activity_bin(Index num_train_rows) {
  return std::min<Index>(std::bit_width(static_cast<std::size_t>(num_train_rows)),
                         kActivityBins - 1);
}

Index first_of_activity_bin(Index bin) { return bin == 0 ? 0 : Index{1} << (bin - 1); }

Index headline_cutoff(const std::vector<Index>& cutoffs) {
  return std::ranges::find(cutoffs, 10) != cutoffs.end() ? 10 : std::ranges::min(cutoffs);
}

Breakdown::Breakdown(Index cutoff)
    : cutoff_(cutoff),
      by_activity_(no_sums(kActivityBins)),
      by_popularity_(MatrixOf<double>::Zero(kPopularityBins, 3)) {}

void Breakdown::add(Index num_train_rows, std::span<const ItemId> ranked,
                    std::span<const ItemId> truth, const ItemBins& bins) {
  by_activity_.row(activity_bin(num_train_rows)) += judge(ranked, truth, cutoff_);
  if (bins.empty()) return;
  const auto bin_of = [&](ItemId item) { return Index{bins[static_cast<std::size_t>(item)]}; };
  for (const ItemId item : truth) by_popularity_(bin_of(item), truths) += 1.0;
  const auto length = std::min(ranked.size(), static_cast<std::size_t>(cutoff_));
  for (const ItemId item : ranked.first(length)) {
    by_popularity_(bin_of(item), recommended) += 1.0;
    if (std::ranges::binary_search(truth, item)) by_popularity_(bin_of(item), hits) += 1.0;
  }
}

void Breakdown::add_arrays(const MatrixOf<double>& by_activity,
                           const MatrixOf<double>& by_popularity) {
  if (!have_one_shape(by_activity, by_activity_) ||
      !have_one_shape(by_popularity, by_popularity_) || !are_sums_over_users(by_activity) ||
      !are_item_counts(by_popularity)) {
    throw ProtocolError("a breakdown of quality is not made of sums");
  }
  by_activity_ += by_activity;
  by_popularity_ += by_popularity;
}
}  // namespace fedhur::evaluate
