// The best items of a user among all items that are not masked.
#pragma once
#include <span>
#include <vector>

#include "fedhur/base/ids.hpp"
#include "fedhur/data/client_data.hpp"
#include "fedhur/evaluate/breakdown.hpp"
#include "fedhur/model/recommender.hpp"

namespace fedhur::evaluate {
// Takes items out of the running.
void mask(std::span<Real> scores, std::span<const ItemId> items);

// The k best unmasked items, best first, equal scores by ascending id; fewer where fewer are left.
// Reads the scores once and keeps k of them; nothing is sorted but the result. Error on NaN.
[[nodiscard]] std::vector<ItemId> top_items(std::span<const Real> scores, Index k);

struct Quality {
  QualitySums valid;  // candidates: all but the training items
  QualitySums test;   // candidates: all but the training and validation items
  Breakdown test_breakdown;
};

// Ranks all items for every user of a client and judges the lists. Without `bins` the breakdown is
// of users alone.
[[nodiscard]] Quality rank_all_users(const model::Recommender& recommender,
                                     const data::ClientData& data,
                                     const std::vector<Index>& cutoffs, const ItemBins& bins = {});
}  // namespace fedhur::evaluate
