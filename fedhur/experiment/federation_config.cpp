#include "fedhur/experiment/federation_config.hpp"

#include <algorithm>
#include <array>

namespace fedhur::experiment {
void read_settings(ConfigTable& table, FederationConfig& config) {
  ConfigSection section(table, "federation");
  section.read("clients", config.clients);
  section.require(config.clients >= 1 && config.clients <= kMostClients, "clients",
                  "a number from 1 to 1000000");
  section.read("quorum", config.quorum);
  section.require(config.quorum >= 0 && config.quorum <= config.clients, "quorum",
                  "a number from 0 (all) to that of the clients");
  section.read("deadline_seconds", config.deadline_seconds);
  section.require(config.deadline_seconds > 0 && config.deadline_seconds <= 1e7, "deadline_seconds",
                  "a number above 0, at most 10000000");
  section.read("items", config.items);
  section.require(!config.items.empty(), "items", "a file with the items of the federation");
}

double read_dropout(ConfigTable& table) {
  double dropout = 0;
  ConfigSection section(table, "federation");
  section.read("dropout", dropout);
  section.require(dropout >= 0 && dropout < 1, "dropout", "a number of 0 or more, below 1");
  section.require(dropout == 0 || !table.contains("federation.clients"), "dropout",
                  "0 for a server: over a network clients are away by themselves");
  return dropout;
}

std::string settings_for_sites(const ConfigTable& table) {
  constexpr std::array<std::string_view, 5> kOwn = {"data.", "synthetic.", "federation.",
                                                    "checkpoint.", "clients."};
  std::string text;
  for (const ConfigTable::Entry& entry : table.resolved()) {
    const bool is_own = entry.key == "threads" || std::ranges::any_of(kOwn, [&](auto section) {
                          return entry.key.starts_with(section);
                        });
    if (!is_own) text += entry.key + " = " + to_toml(entry.value) + "\n";
  }
  return text;
}
}  // namespace fedhur::experiment
