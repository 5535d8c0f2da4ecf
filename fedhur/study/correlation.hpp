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
// Of one relation, one part of the data and one metric, in two readings. Each target has a
// correlation of its own, over all candidates but itself, between its scores and the change of its
// metric. And there is one over the candidates, each with the means of its scores and changes over
// all targets but itself.
struct CorrelationOf {
  std::string relation;  // "similarity" or "utility"
  std::string part;      // "train", "valid" or "test"
  std::string metric;    // "recall@10", "mrr@10", "ndcg@10"; "ndcg" over the whole ranking
  std::vector<double> pearson = {};  // one per target that has rows in the part
  std::vector<double> spearman = {};
  double candidate_pearson = 0.0;
  double candidate_spearman = 0.0;
};

// `table` has the settings of a FedHUR run. Its first `rounds` rounds are trained as they are; the
// one after them is played once per candidate, and once without any relation, which is what changes
// are measured from. Empty if `should_stop` said so.
[[nodiscard]] std::vector<CorrelationOf> correlate(const ConfigTable& table, Round rounds,
                                                   const std::function<bool()>& should_stop);
}  // namespace fedhur::study
