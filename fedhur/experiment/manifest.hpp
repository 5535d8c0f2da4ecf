// Where a run's numbers come from: version, machine, data, times.
#pragma once
#include <filesystem>
#include <string>

#include "fedhur/data/interactions.hpp"

namespace fedhur::experiment {
[[nodiscard]] std::string version();  // of this library, "0.1.0"

[[nodiscard]] std::string cpu_name();  // of this machine, "unknown" where nothing tells

// DataError if the data are not those that the run began with.
void check_same_data(const std::filesystem::path& manifest, const data::Dataset& dataset);

struct Sitting {
  std::string method;
  std::uint64_t seed = 0;
  Index num_clients = 0;
  Index num_threads = 1;
  Round first_round = 0;
};
// A new sitting of a run; the first one creates the file.
void begin_sitting(const std::filesystem::path& manifest, const Sitting& sitting,
                   const data::Dataset& dataset);
// The present sitting ends here.
void end_sitting(const std::filesystem::path& manifest, Round next_round);

[[nodiscard]] double peak_rss_mb();  // of this process so far
}  // namespace fedhur::experiment
