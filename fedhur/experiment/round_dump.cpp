#include "fedhur/experiment/round_dump.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/npy.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;
namespace {
void check_method(const std::string& name) {
  if (methods::find_method(name).shows_rounds) return;
  std::vector<std::string> able;
  for (const auto& method : methods::all_methods()) {
    if (method.shows_rounds) able.push_back(method.name);
  }
  throw ConfigError(
      fmt::format("the method {} has nothing to show of a round: --dump-round is for {}", name,
                  fmt::join(able, ", ")));
}

// The file of an array or a text, below folders that are made as they are needed.
fs::path place_of(const fs::path& folder, const std::string& name, const char* ending) {
  fs::path path = folder / (name + ending);
  make_folder(path.parent_path());
  return path;
}
}  // namespace

void check_dump(const DumpConfig& dump, const ExperimentConfig& config) {
  if (dump.round < 1 || dump.round > config.stop.max_rounds) {
    throw ConfigError(
        fmt::format("--dump-round {}: expected a round from 1 to {}, which is stop.max_rounds",
                    dump.round, config.stop.max_rounds));
  }
  check_method(config.method);
  std::error_code error;
  if (!fs::exists(dump.folder, error)) return;
  if (!fs::is_directory(dump.folder, error)) {
    throw ConfigError(
        fmt::format("{} is not a folder: choose another --dump-dir", dump.folder.string()));
  }
  if (!fs::is_empty(dump.folder, error)) {
    throw ConfigError(
        fmt::format("{} exists and is not empty: choose another --dump-dir", dump.folder.string()));
  }
}

void create_folder(const DumpConfig& dump) {
  make_folder(dump.folder);
  if (::access(dump.folder.c_str(), W_OK | X_OK) != 0) {
    throw ConfigError(
        fmt::format("cannot write into {}: {}", dump.folder.string(), std::strerror(errno)));
  }
}

methods::RoundWatcher make_watcher(const DumpConfig& dump) {
  const fs::path folder = dump.folder;
  return {.round = dump.round - 1,
          .show_matrix =
              [folder](const std::string& name, ConstMatrixRef matrix) {
                write_npy(place_of(folder, name, ".npy"), matrix);
              },
          .show_vector =
              [folder](const std::string& name, ConstVectorRef vector) {
                write_npy_vector(place_of(folder, name, ".npy"), vector);
              },
          .show_json =
              [folder](const std::string& name, const std::string& json) {
                write_file_atomically(place_of(folder, name, ".json"), json);
              }};
}

void dump_fine_tuned(const DumpConfig& dump, const Party& party) {
  for (std::size_t client = 0; client < party.size(); ++client) {
    write_npy(place_of(dump.folder, fmt::format("fine_tuned/{}", client), ".npy"),
              party[client].half().model().matrix("item_embeddings"));
  }
}
}  // namespace fedhur::experiment
