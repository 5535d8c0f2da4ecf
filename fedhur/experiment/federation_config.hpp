// Settings of a real federation, and of what a simulation has in its place.
#pragma once
#include <string>

#include "fedhur/base/index.hpp"
#include "fedhur/base/settings.hpp"

namespace fedhur::experiment {
inline constexpr Index kMostClients = 1'000'000;
struct FederationConfig {
  Index clients = 0;
  Index quorum = 0;  // 0: all clients
  double deadline_seconds = 600;
  std::string items;
};
void declare_settings(Settings& settings, FederationConfig& config);
// Of the same section, for simulations: the probability that a client is away for a round.
void declare_dropout(Settings& settings, double& dropout);

// What sites are told of the server's resolved settings: those of the method, evaluation and wire,
// and how rows are split. Paths and sizes of the server's machine are not among them.
[[nodiscard]] std::string settings_for_sites(const std::vector<Setting>& settings);
}  // namespace fedhur::experiment
