// How a run's best round looks inside, as JSON: item groups, who helps whom, and the quality for
// kinds of users and items.
#pragma once
#include <string>
#include <vector>

#include "fedhur/base/named_arrays.hpp"
#include "fedhur/data/interactions.hpp"

namespace fedhur::report {
struct InsideReport {
  Round round = 0;
  Index num_clients = 0;
  Index cutoff = 10;                         // of the quality by bins
  const NamedArrays& arrays;                 // of RoundNotes::inside, and both of a Breakdown
  const data::Dataset& dataset;              // names and titles
  const std::vector<Index>& train_counts{};  // training rows of every item
};

// Large catalogues are cut: a group lists its most popular items only.
[[nodiscard]] std::string to_json(const InsideReport& inside);
}  // namespace fedhur::report
