// What a search says to people.
#pragma once
#include <string>
#include <vector>

#include "fedhur/tune/tuning.hpp"

namespace fedhur::apps {
// What is about to happen: budget, space, seeds.
[[nodiscard]] std::string format_plan(const tune::TunePlan& plan);
// A line per trial: its score, the best so far, the time left.
[[nodiscard]] std::string format_trial(const tune::Trial& trial, const tune::RungProgress& progress,
                                       const tune::TunePlan& plan);
// The best trials as a table, which settings mattered, and where to find everything.
[[nodiscard]] std::string format_outcome(const tune::TuneOutcome& outcome,
                                         const tune::TunePlan& plan,
                                         const tune::TuningFolder& folder);
// The best trial of a method, as a row of the table below.
[[nodiscard]] std::vector<std::string> format_best(const tune::TuneOutcome& outcome,
                                                   const tune::TunePlan& plan);
// The best of several methods side by side.
[[nodiscard]] std::string format_methods(std::vector<std::vector<std::string>> rows);
}  // namespace fedhur::apps
