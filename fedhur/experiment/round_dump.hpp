// One round of a simulation as files, for study and for independent checks: NumPy arrays and JSON.
#pragma once
#include <filesystem>

#include "fedhur/experiment/party.hpp"
#include "fedhur/methods/fedhur_round.hpp"

namespace fedhur::experiment {
struct DumpConfig {
  std::int64_t round = 1;  // counted from 1, as in everything that users see
  std::filesystem::path folder;

  [[nodiscard]] bool is_of(Round done) const { return round == done + 1; }
};
// ConfigError if the run cannot come to that round, its method shows nothing of a round, or
// something is in the folder.
void check_dump(const DumpConfig& dump, const ExperimentConfig& config);
// ConfigError if files cannot be made in it.
void create_folder(const DumpConfig& dump);

// Writes the round when the server half shows it.
[[nodiscard]] methods::RoundWatcher make_watcher(const DumpConfig& dump,
                                                 const ExperimentConfig& config, Index num_clients);
// The clients' item embeddings after the round.
void dump_fine_tuned(const DumpConfig& dump, const Party& party);
}  // namespace fedhur::experiment
