// "evaluate": what a client answers, and what the server makes of the answers.
#pragma once
#include <string>
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/evaluate/full_ranking.hpp"
#include "fedhur/federation/federation.hpp"

namespace fedhur::evaluate {
struct EvaluationConfig {
  std::vector<Index> cutoffs = {10};  // evaluate.k, ascending
  std::string criterion = "f1@10";
};
void declare_settings(Settings& settings, EvaluationConfig& config);

// What a client answers to "evaluate": sums of the ranking quality of its users.
[[nodiscard]] message::Message quality_reply(const Quality& quality, Round round);
// Asks all clients and adds up what those say who answer, in client order. Answers that cannot be
// true are refused.
[[nodiscard]] Quality evaluate_clients(federation::Federation& federation, Round round,
                                       const std::vector<Index>& cutoffs);
}  // namespace fedhur::evaluate
