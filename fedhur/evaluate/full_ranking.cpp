#include "fedhur/evaluate/full_ranking.hpp"

#include <algorithm>
#include <limits>

#include "fedhur/base/error.hpp"
#include "fedhur/linalg/kernels.hpp"

namespace fedhur::evaluate {
namespace {
constexpr Real kMasked = -std::numeric_limits<Real>::infinity();
// Users scored by one matrix product: enough to keep it busy, few enough to stay in cache.
constexpr Index kUsersPerBlock = 32;
// Items looked at as one: most such runs hold nothing better than the k found so far.
constexpr Index kItemsPerRun = 64;

struct Candidate {
  Real score;
  ItemId item;
};

// A heap under this order has its worst candidate on top.
bool is_better(const Candidate& a, const Candidate& b) {
  return a.score > b.score || (a.score == b.score && a.item < b.item);
}
}  // namespace

void mask(std::span<Real> scores, std::span<const ItemId> items) {
  for (const ItemId item : items) scores[static_cast<std::size_t>(index_of(item))] = kMasked;
}

std::vector<ItemId> top_items(std::span<const Real> scores, Index k) {
  std::vector<Candidate> heap;
  heap.reserve(static_cast<std::size_t>(k) + 1);
  const auto num_items = static_cast<Index>(scores.size());
  Real threshold = kMasked;  // a later item has to exceed it: equal scores go to the lower id
  for (Index first = 0; first < num_items; first += kItemsPerRun) {
    const Index last = std::min(num_items, first + kItemsPerRun);
    Real largest = 0;
    bool has_nan = false;
    linalg::largest_value(scores.data() + first, last - first, largest, has_nan);
    if (has_nan)
      throw Error(
          "a score is not a number: the training diverged, try a smaller train.learning_rate");
    if (!(largest > threshold)) continue;
    for (Index item = first; item < last; ++item) {
      const Real score = scores[static_cast<std::size_t>(item)];
      if (!(score > threshold)) continue;
      heap.push_back({score, item_id(item)});
      std::push_heap(heap.begin(), heap.end(), is_better);
      if (static_cast<Index>(heap.size()) > k) {
        std::pop_heap(heap.begin(), heap.end(), is_better);
        heap.pop_back();
      }
      if (static_cast<Index>(heap.size()) == k) threshold = heap.front().score;
    }
  }
  std::sort_heap(heap.begin(), heap.end(), is_better);
  std::vector<ItemId> items;
  items.reserve(heap.size());
  for (const Candidate& candidate : heap) items.push_back(candidate.item);
  return items;
}

Quality rank_all_users(const model::Recommender& recommender, const data::ClientData& data,
                       const std::vector<Index>& cutoffs, const ItemBins& bins) {
  const Index num_users = recommender.num_users();
  const Index num_items = recommender.num_items();
  const Index longest = *std::max_element(cutoffs.begin(), cutoffs.end());
  Quality quality{QualitySums(cutoffs), QualitySums(cutoffs), Breakdown(headline_cutoff(cutoffs))};
  Matrix block(std::min(num_users, kUsersPerBlock), num_items);
  for (Index first = 0; first < num_users; first += kUsersPerBlock) {
    const Index count = std::min(kUsersPerBlock, num_users - first);
    recommender.score(first, block.topRows(count));
    for (Index row = 0; row < count; ++row) {
      const Index user = first + row;
      const std::span<Real> scores(block.row(row).data(), static_cast<std::size_t>(num_items));
      const auto valid = data.valid.of(user);
      const auto test = data.test.of(user);
      if (valid.empty() && test.empty()) continue;
      mask(scores, data.train.of(user));
      if (!valid.empty()) quality.valid.add(top_items(scores, longest), valid);
      if (test.empty()) continue;
      mask(scores, valid);
      const std::vector<ItemId> ranked = top_items(scores, longest);
      quality.test.add(ranked, test);
      const auto num_train_rows = static_cast<Index>(data.train.of(user).size());
      quality.test_breakdown.add(num_train_rows, ranked, test, bins);
    }
  }
  return quality;
}
}  // namespace fedhur::evaluate
