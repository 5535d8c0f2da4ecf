// Which settings mattered in a search.
#pragma once
#include <string>
#include <vector>

#include "fedhur/tune/trial.hpp"

namespace fedhur::tune {
// Mean score after the first rung, by value of a setting.
struct Effect {
  struct Group {
    std::string value;           // as TOML; of a range "up to 0.01" or "above 0.01"
    std::size_t num_trials = 0;  // two or more
    double mean = 0.0;
  };
  std::string key;
  std::vector<Group> groups;  // two or more, best first; a single trial makes no group
  [[nodiscard]] double size() const { return groups.front().mean - groups.back().mean; }
};

// Largest first. Trials are few, so these are hints.
[[nodiscard]] std::vector<Effect> find_effects(const std::vector<Trial>& trials,
                                               const SearchSpace& space);
// A sentence about the largest; empty if there is none.
[[nodiscard]] std::string describe_largest(const std::vector<Effect>& effects,
                                           const std::string& criterion);
}  // namespace fedhur::tune
