// Rounds of a simulation played by hand: for studies that look into one, or play it again.
#pragma once
#include <string>
#include <vector>

#include "fedhur/experiment/simulation.hpp"

namespace fedhur::study {
// Before its first round; `assignments` come on top of the settings, as for --set.
[[nodiscard]] experiment::Simulation simulate(ConfigTable table,
                                              const std::vector<std::string>& assignments = {});
// The same clients under a new server half, with other settings or with a watcher.
void replace_server(experiment::Simulation& simulation, const experiment::ExperimentConfig& config,
                    const methods::RoundWatcher* watcher);
void play(experiment::Simulation& simulation, Round round);

// All that a round begins with.
using State = std::vector<std::byte>;
[[nodiscard]] State save(const experiment::Simulation& simulation);
void restore(const State& state, experiment::Simulation& simulation);
}  // namespace fedhur::study
