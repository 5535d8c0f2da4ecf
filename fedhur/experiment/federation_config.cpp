#include "fedhur/experiment/federation_config.hpp"

#include <algorithm>
#include <array>

namespace fedhur::experiment {
void declare_settings(Settings& settings, FederationConfig& config) {
  settings.add("federation.clients", config.clients, between(1, kMostClients),
               "how many clients there are; without it a run is a simulation");
  settings.add("federation.quorum", config.quorum, at_least(0),
               "fewest answers to go on with, at most the number of clients; 0: that number");
  settings.require(config.quorum <= config.clients, "federation.quorum",
                   "a number from 0 (all) to that of the clients");
  settings.add("federation.deadline_seconds", config.deadline_seconds, above_to(0, 1e7),
               "for the answers to a request");
  const std::string file = "a file with the items of the federation";
  settings.add("federation.items", config.items, "the catalogue that `fedhur data items` writes",
               file);
  settings.require(!config.items.empty(), "federation.items", file);
}

void declare_dropout(Settings& settings, double& dropout) {
  settings.add("federation.dropout", dropout, from_below(0, 1),
               "simulations only: the probability that a client is away for a round ([when clients "
               "are missing](methods.md#when-clients-are-missing-or-lie))");
  settings.require(dropout == 0 || !settings.given().contains("federation.clients"),
                   "federation.dropout",
                   "0 for a server: over a network clients are away by themselves");
}

std::string settings_for_sites(const std::vector<Setting>& settings) {
  constexpr std::array<std::string_view, 5> kOwn = {"data.", "synthetic.", "federation.",
                                                    "checkpoint.", "clients."};
  std::string text;
  for (const Setting& setting : settings) {
    const bool is_own = setting.key == "threads" || std::ranges::any_of(kOwn, [&](auto section) {
                          return setting.key.starts_with(section);
                        });
    if (!is_own) text += setting.key + " = " + to_toml(setting.value) + "\n";
  }
  return text;
}
}  // namespace fedhur::experiment
