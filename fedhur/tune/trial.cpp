#include "fedhur/tune/trial.hpp"

#include <algorithm>

namespace fedhur::tune {
TrialRun summarize_run(const std::vector<report::RoundReport>& rounds, Round num_rounds,
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

namespace {
// By `score_of`, then who came further, then who was drawn earlier; without a score: not at all.
std::vector<std::size_t> rank_by(const std::vector<Trial>& trials, auto score_of) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (score_of(trials[i]) && trials[i].state != TrialState::failed) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double score_a = *score_of(trials[a]);
    const double score_b = *score_of(trials[b]);
    if (score_a != score_b) return score_a > score_b;
    return trials[a].scores.size() > trials[b].scores.size();
  });
  return order;
}
}  // namespace

std::vector<std::size_t> rank_trials(const std::vector<Trial>& trials) {
  return rank_by(trials, [](const Trial& trial) {
    return trial.scores.empty() ? std::nullopt : std::optional(trial.scores.back());
  });
}

std::vector<std::size_t> rank_after(const std::vector<Trial>& trials, std::size_t num_rungs) {
  expects(num_rungs > 0, "before the first rung there is no score");
  return rank_by(trials, [&](const Trial& trial) {
    return trial.scores.size() < num_rungs ? std::nullopt
                                           : std::optional(trial.scores[num_rungs - 1]);
  });
}

double seconds_of(const Trial& trial) {
  double sum = 0.0;
  for (const TrialRun& run : trial.runs) sum += run.seconds;
  return sum;
}

std::size_t count_trials(const std::vector<Trial>& trials, TrialState state) {
  return static_cast<std::size_t>(std::ranges::count(trials, state, &Trial::state));
}

evaluate::Spread spread_over(const Trial& trial, report::Metrics TrialRun::*part,
                             const std::string& metric) {
  std::vector<double> values;
  for (const TrialRun& run : trial.runs) values.push_back((run.*part).at(metric));
  return evaluate::spread_of(values);
}
}  // namespace fedhur::tune
