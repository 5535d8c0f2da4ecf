// One point of a search with what came of it, and which is best.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fedhur/evaluate/statistics.hpp"
#include "fedhur/report/round_report.hpp"
#include "fedhur/tune/search_space.hpp"

namespace fedhur::tune {
// What the rounds of one seed came to.
struct TrialRun {
  std::uint64_t seed = 0;
  Round num_rounds = 0;
  Round best_round = 0;  // by validation, from 1
  report::Metrics valid;
  report::Metrics test;
  double seconds = 0.0;
};
// Of the first `num_rounds` rounds, or of all if there are fewer; there is at least one.
[[nodiscard]] TrialRun summarize_run(const std::vector<report::RoundReport>& rounds,
                                     Round num_rounds, std::uint64_t seed);

enum class TrialState : std::uint8_t { waiting, dropped, finished, failed };
constexpr auto names_of(TrialState) {
  return std::array{"waiting", "dropped", "finished", "failed"};
}
struct Trial {
  std::size_t number = 0;  // from 1, in the order of the draw
  Point point;
  TrialState state = TrialState::waiting;
  // Mean over seeds of the validation criterion, after each rung that it has passed.
  std::vector<double> scores;
  std::vector<TrialRun> runs;  // one per seed, as of the last of these rungs
  std::string problem;         // if it failed
};

// Trials that passed a rung and have not failed, best first: who has the higher last score, then
// who came further, then who was drawn earlier. Indices. Nothing else of a trial is looked at.
[[nodiscard]] std::vector<std::size_t> rank_trials(const std::vector<Trial>& trials);
// The same by the score after so many rungs, of those that have one.
[[nodiscard]] std::vector<std::size_t> rank_after(const std::vector<Trial>& trials,
                                                  std::size_t num_rungs);

[[nodiscard]] double seconds_of(const Trial& trial);  // of all its runs
[[nodiscard]] std::size_t count_trials(const std::vector<Trial>& trials, TrialState state);

// Of a metric over the seeds of a trial; `part` is &TrialRun::valid or &TrialRun::test.
[[nodiscard]] evaluate::Spread spread_over(const Trial& trial, report::Metrics TrialRun::*part,
                                           const std::string& metric);
}  // namespace fedhur::tune
