// Settings of a real federation, and of what a simulation has in its place.
#pragma once
#include <string>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/index.hpp"

namespace fedhur::experiment {
inline constexpr Index kMostClients = 1'000'000;
struct FederationConfig {
  Index clients = 0;              // how many there are
  Index quorum = 0;               // fewest answers to go on with; 0: all clients
  double deadline_seconds = 600;  // for the answers to a request
  std::string items;              // file with the catalogue
};
// Section [federation].
void read_settings(ConfigTable& table, FederationConfig& config);
// Of the same section, for simulations: the probability that a client is away for a round.
[[nodiscard]] double read_dropout(ConfigTable& table);

// What sites are told of the server's resolved settings: those of the method, evaluation and wire,
// and how rows are split. Paths and sizes of the server's machine are not among them.
[[nodiscard]] std::string settings_for_sites(const ConfigTable& table);
}  // namespace fedhur::experiment
