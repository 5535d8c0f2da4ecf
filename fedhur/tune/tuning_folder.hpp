// The folder that a search leaves behind, and goes on in.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "fedhur/base/descriptor.hpp"

namespace fedhur::tune {
class TuningFolder {
 public:
  // Exactly this folder. ConfigError if something else than this search (see describe_search) is in
  // it, or if another process is at work there.
  [[nodiscard]] static TuningFolder open(const std::filesystem::path& path,
                                         const std::string& search);
  // <name>-<nnnn> below `parent`: the one that holds this search, or else the next free number.
  [[nodiscard]] static TuningFolder open_numbered(const std::filesystem::path& parent,
                                                  const std::string& name,
                                                  const std::string& search);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path best() const { return path_ / "best.toml"; }
  [[nodiscard]] std::filesystem::path tuned() const { return path_ / "tuned.toml"; }
  [[nodiscard]] std::filesystem::path trials() const { return path_ / "trials.jsonl"; }
  [[nodiscard]] std::filesystem::path summary() const { return path_ / "summary.md"; }
  // The run folder of a trial with a seed.
  [[nodiscard]] std::filesystem::path run(std::size_t trial, std::uint64_t seed) const;

 private:
  explicit TuningFolder(std::filesystem::path path);
  std::filesystem::path path_;
  std::shared_ptr<Descriptor> lock_;  // exclusive, until the last copy of this goes
};
}  // namespace fedhur::tune
