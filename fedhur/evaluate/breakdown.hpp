// Test quality by how active users are, and by how popular items are: sums, the only form in which
// it leaves a client.
#pragma once
#include <array>
#include <string_view>

#include "fedhur/evaluate/metrics.hpp"

namespace fedhur::evaluate {
inline constexpr Index kPopularityBins = 3;
inline constexpr std::array<std::string_view, kPopularityBins> kPopularityNames = {"head", "middle",
                                                                                   "tail"};
// The bin of every item. Of items by falling count the first that have a third of all rows between
// them are the head, the next the middle, the others the tail; equal counts in item order.
using ItemBins = std::vector<std::uint8_t>;
[[nodiscard]] ItemBins bin_items(const std::vector<Index>& train_counts);

// Users by their number of training rows: none, 1, 2 to 3, 4 to 7 and so on; 1024 and more.
inline constexpr Index kActivityBins = 12;
[[nodiscard]] Index activity_bin(Index num_train_rows);
[[nodiscard]] Index first_of_activity_bin(Index bin);  // the fewest rows of its users

// The cutoff that people look at: 10, or the smallest where 10 is not among them.
[[nodiscard]] Index headline_cutoff(const std::vector<Index>& cutoffs);

class Breakdown {
 public:
  explicit Breakdown(Index cutoff);
  // A user's list, best first, of at least `cutoff` items where there are so many. `bins` may be
  // empty: then nothing is known of items.
  void add(Index num_train_rows, std::span<const ItemId> ranked, std::span<const ItemId> truth,
           const ItemBins& bins);

  // As arrays of a message and back. A row per bin: users and sums of metrics;
  // test rows, hits among them, and recommended items.
  [[nodiscard]] const MatrixOf<double>& by_activity() const { return by_activity_; }
  [[nodiscard]] const MatrixOf<double>& by_popularity() const { return by_popularity_; }
  [[nodiscard]] double num_users() const { return by_activity_.col(0).sum(); }
  // ProtocolError on a wrong shape, and on values that no client can have.
  void add_arrays(const MatrixOf<double>& by_activity, const MatrixOf<double>& by_popularity);

 private:
  Index cutoff_;
  MatrixOf<double> by_activity_;
  MatrixOf<double> by_popularity_;
};
}  // namespace fedhur::evaluate
