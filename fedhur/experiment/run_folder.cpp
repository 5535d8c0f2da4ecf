#include "fedhur/experiment/run_folder.hpp"

#include <fmt/format.h>

#include <fstream>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"

namespace fedhur::experiment {
namespace fs = std::filesystem;

RunFolder RunFolder::create_numbered(const fs::path& parent, const std::string& name) {
  make_folder(parent);
  for (int number = 1; number < 10000; ++number) {
    const fs::path path = parent / fmt::format("{}-{:04}", name, number);
    std::error_code error;
    // Creating is what claims the number: two runs started at once get two folders.
    if (fs::create_directory(path, error)) return create(path);
    if (error) {
      throw ConfigError(
          fmt::format("cannot create the folder {}: {}", path.string(), error.message()));
    }
  }
  throw ConfigError(fmt::format("{} holds 9999 runs of {} already", parent.string(), name));
}

RunFolder RunFolder::create(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_empty(path, error)) {
    throw ConfigError(
        fmt::format("{} exists and is not empty: choose another --out, or go on with --resume {}",
                    path.string(), path.string()));
  }
  RunFolder folder(path);
  make_folder(folder.checkpoints());
  return folder;
}

bool RunFolder::is_run(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(RunFolder(path).config(), ignored);
}

void RunFolder::remove_unbegun(const fs::path& path) {
  if (is_run(path)) return;
  const RunFolder folder(path);
  std::error_code ignored;
  for (const fs::path& file :
       {folder.log(), folder.manifest(), folder.config(), folder.run_id(), folder.replies()}) {
    fs::remove(file, ignored);
    fs::remove(file.string() + ".part", ignored);
  }
  fs::remove(folder.checkpoints(), ignored);
  fs::remove(path, ignored);  // fails if anything else is in there
}

RunFolder RunFolder::open(const fs::path& path) {
  RunFolder folder(path);
  if (!is_run(path)) {
    throw ConfigError(fmt::format("{} is not a run folder: it has no config.toml", path.string()));
  }
  make_folder(folder.checkpoints());
  return folder;
}

void RunFolder::append_round(const report::RoundReport& report) const {
  std::ofstream file(rounds(), std::ios::app | std::ios::binary);
  file << report::to_json(report) << '\n';
  file.flush();
  if (!file) throw FileError(fmt::format("cannot write {}", rounds().string()));
}

std::vector<report::RoundReport> RunFolder::read_rounds() const {
  std::vector<report::RoundReport> reports;
  std::ifstream file(rounds(), std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    try {
      reports.push_back(report::round_report_from_json(line));
    } catch (const DataError&) {
      break;  // torn by a crash; what follows cannot be trusted either
    }
  }
  return reports;
}

void RunFolder::keep_rounds_before(Round round) const {
  std::string text;
  for (const report::RoundReport& report : read_rounds()) {
    if (report.round < round) text += report::to_json(report) + '\n';
  }
  write_file_atomically(rounds(), text);
}

bool RunFolder::is_finished() const { return fs::exists(result()); }
}  // namespace fedhur::experiment
