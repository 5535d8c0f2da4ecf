#include "fedhur/tune/trial.hpp"

#include <algorithm>

namespace fedhur::tune {
TrialRun summarize(const std::vector<report::RoundReport>& rounds, Round num_rounds,
                   std::uint64_t seed) {
  expects(!rounds.empty(), "a run has at least one round");
  TrialRun run;
  run.seed = seed;
  for (const report::RoundReport& report : rounds) {
    if (report.round >= num_rounds) break;
    run.num_rounds = report.round + 1;
    for (const auto& [phase, seconds] : report.seconds) run.seconds += seconds;
    if (!report.is_best) continue;
    run.best_round = report.round + 1;
    run.valid = report.valid;
    run.test = report.test;
  }
  return run;
}

std::vector<std::size_t> rank_trials(const std::vector<Trial>& trials) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i].scores.empty() && trials[i].state != TrialState::failed) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::vector<double>& scores_a = trials[a].scores;
    const std::vector<double>& scores_b = trials[b].scores;
    if (scores_a.size() != scores_b.size()) return scores_a.size() > scores_b.size();
    return scores_a.back() > scores_b.back();
  });
  return order;
}

evaluate::Spread spread_over(const Trial& trial, report::Metrics TrialRun::*part,
                             const std::string& metric) {
  std::vector<double> values;
  for (const TrialRun& run : trial.runs) values.push_back((run.*part).at(metric));
  return evaluate::spread_of(values);
}
}  // namespace fedhur::tune
