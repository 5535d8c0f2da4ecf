// Does a relation's score tell who will help? For one round, every client is given to every other
// as its only candidate, and what that changes is held against the scores from before.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/ids.hpp"
#include "fedhur/evaluate/statistics.hpp"

namespace fedhur::study {
// Of one relation and one part of the data. Each target has a correlation of its own, over all
// candidates but itself, between its scores and the change of its NDCG over the whole ranking.
struct CorrelationOf {
  std::string relation;         // "similarity" or "utility"
  std::string part;             // "train", "valid" or "test"
  std::vector<double> pearson;  // one per target that has rows in the part
  std::vector<double> spearman;
};

// `table` has the settings of a FedHUR run. Its first `rounds` rounds are trained as they are; the
// one after them is played once per candidate, and once without any relation, which is what changes
// are measured from. Empty if `should_stop` said so.
[[nodiscard]] std::vector<CorrelationOf> correlate(const ConfigTable& table, Round rounds,
                                                   const std::function<bool()>& should_stop);
}  // namespace fedhur::study
