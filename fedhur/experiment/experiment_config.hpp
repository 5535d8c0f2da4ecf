// All settings of a run, from a TOML file and the command line to structs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/base/settings.hpp"
#include "fedhur/client/upload.hpp"
#include "fedhur/data/client_partition.hpp"
#include "fedhur/data/conflicts.hpp"
#include "fedhur/data/filter.hpp"
#include "fedhur/data/load.hpp"
#include "fedhur/data/split.hpp"
#include "fedhur/data/synthetic.hpp"
#include "fedhur/evaluate/evaluation.hpp"
#include "fedhur/experiment/federation_config.hpp"
#include "fedhur/methods/method.hpp"

namespace fedhur::experiment {
inline constexpr const char* kSynthetic = "synthetic";  // in place of a path

struct DataConfig {
  std::string path = kSynthetic;
  std::string split_file;
  data::LoadConfig load;
  data::FilterConfig filter;
  data::SyntheticConfig synthetic;
  std::uint64_t synthetic_seed = 1;
  data::SplitConfig split;
  data::PartitionConfig partition;
  data::ConflictConfig conflict;
  // Whether the settings themselves say so; otherwise the file has the word, if it has one.
  bool says_split = false;
  bool says_partition = false;
};

struct StopConfig {
  Round max_rounds = 500;
  Round patience = 12;
  Round min_rounds = 0;
};

struct CheckpointConfig {
  Round every = 0;  // 0: by what it costs
};

struct ExperimentConfig {
  std::string method = "fedhur";
  std::uint64_t seed = 42;
  Index threads = 0;  // 0: one per core
  DataConfig data;
  evaluate::EvaluationConfig evaluation;
  StopConfig stop;
  CheckpointConfig checkpoint;
  std::optional<FederationConfig> federation;  // of a run whose clients are elsewhere
  double dropout = 0;         // of a simulation: the probability that a client is away for a round
  client::UploadConfig wire;  // the rank is read by every method that uploads item embeddings
  methods::ConfiguredMethod configured_method;
};

// Adds the settings of a TOML file; ConfigError "file:line: ..." if it is not one.
void add_toml_file(ConfigTable& table, const std::filesystem::path& path);
void add_toml_text(ConfigTable& table, const std::string& text, const std::string& name);
// "train.learning_rate=0.1"; the value is TOML, or a string if it is not.
void add_assignment(ConfigTable& table, const std::string& assignment);

// What a run is made from: the settings that were given, all others, and what they come to.
struct ResolvedConfig {
  ExperimentConfig config;
  std::vector<Setting> settings;  // in order of declaration
};
// ConfigError for what is not allowed, and for a key that is no setting.
[[nodiscard]] ResolvedConfig resolve(const ConfigTable& table);
// ConfigError where the method must not run over a network with these settings.
void require_network(const ExperimentConfig& config);
// Of data settings alone, whatever else is given.
[[nodiscard]] DataConfig read_data_config(const ConfigTable& table);

// The same settings with paths that still lead there when the run is repeated from elsewhere.
[[nodiscard]] ConfigTable with_absolute_paths(ConfigTable table);

// Whether the outcome of a run may depend on this setting.
[[nodiscard]] bool changes_results(const std::string& key);

// The resolved configuration as a TOML file that gives the same run again.
[[nodiscard]] std::string to_toml(const std::vector<Setting>& settings);
}  // namespace fedhur::experiment
