// All settings of a run, from a TOML file and the command line to structs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/client/upload.hpp"
#include "fedhur/data/client_partition.hpp"
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
  std::string split_file;  // parts and clients for the rows of `path`, in the format `split`
  data::LoadConfig load;
  data::FilterConfig filter;
  data::SyntheticConfig synthetic;
  std::uint64_t synthetic_seed = 1;  // its own, so that runs with other seeds see the same data
  data::SplitConfig split;
  data::PartitionConfig partition;
};

struct StopConfig {
  Round max_rounds = 500;
  Round patience = 12;   // rounds without a better validation score before it stops
  Round min_rounds = 0;  // never stops before
};

struct CheckpointConfig {
  // Rounds between checkpoints; 0 writes one whenever that costs less than a twentieth of the time
  // since the last. A resumed run repeats the rounds after its checkpoint, bit for bit.
  Round every = 0;
};

struct ExperimentConfig {
  std::string method = "fedhur";
  std::uint64_t seed = 42;
  Index threads = 0;  // 0: one per core; never changes a result
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

// Reads everything, data settings alone, and rejects what nobody read.
[[nodiscard]] ExperimentConfig read_experiment_config(ConfigTable& table);
[[nodiscard]] DataConfig read_data_config(ConfigTable& table);

// Paths of data that still lead there when the run is repeated from elsewhere.
void make_paths_absolute(ConfigTable& table, DataConfig& config);

// Whether the outcome of a run may depend on this setting.
[[nodiscard]] bool changes_results(const std::string& key);

// The resolved configuration as a TOML file that gives the same run again.
[[nodiscard]] std::string to_toml(const ConfigTable& table);
}  // namespace fedhur::experiment
