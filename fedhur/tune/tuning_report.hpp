// What a search found: as JSON for programs, as Markdown for people.
#pragma once
#include <string>
#include <vector>

#include "fedhur/tune/plan.hpp"

namespace fedhur::tune {
// One line of trials.jsonl.
[[nodiscard]] std::string to_json(const Trial& trial, const TunePlan& plan);
// The whole search: what was asked for, how many trials came to what, and the best one.
[[nodiscard]] std::string to_json(const std::vector<Trial>& trials, const TunePlan& plan,
                                  const std::string& folder);

// Header and a row per ranked trial, best first: rank, trial, the settings that differ, validation
// mean and deviation, test mean, rounds, seconds.
[[nodiscard]] std::vector<std::vector<std::string>> ranking_table(const std::vector<Trial>& trials,
                                                                  const TunePlan& plan);

[[nodiscard]] std::string to_markdown(const std::vector<Trial>& trials, const TunePlan& plan);
}  // namespace fedhur::tune
