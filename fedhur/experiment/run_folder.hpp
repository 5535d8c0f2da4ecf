// The folder that a run leaves behind: names of its files, and how they are written.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "fedhur/report/round_report.hpp"

namespace fedhur::experiment {
class RunFolder {
 public:
  // runs/<name>-<nnnn> with the next free number, below `parent`.
  [[nodiscard]] static RunFolder create_numbered(const std::filesystem::path& parent,
                                                 const std::string& name);
  // Exactly this folder; ConfigError if it exists and is not empty.
  [[nodiscard]] static RunFolder create(const std::filesystem::path& path);
  // Whether a run has begun there.
  [[nodiscard]] static bool is_run(const std::filesystem::path& path);
  // Takes away what is left of a run that never began, and the folder if it is empty then.
  static void remove_unbegun(const std::filesystem::path& path);
  // ConfigError if there is no run in it.
  [[nodiscard]] static RunFolder open(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path config() const { return path_ / "config.toml"; }
  [[nodiscard]] std::filesystem::path manifest() const { return path_ / "manifest.json"; }
  [[nodiscard]] std::filesystem::path rounds() const { return path_ / "rounds.jsonl"; }
  [[nodiscard]] std::filesystem::path inside() const { return path_ / "inside.json"; }
  [[nodiscard]] std::filesystem::path report() const { return path_ / "report.html"; }
  [[nodiscard]] std::filesystem::path result() const { return path_ / "result.json"; }
  [[nodiscard]] std::filesystem::path model() const { return path_ / "model"; }
  [[nodiscard]] std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  [[nodiscard]] std::filesystem::path log() const { return path_ / "log.txt"; }
  // Of a server whose clients are elsewhere:
  [[nodiscard]] std::filesystem::path run_id() const { return path_ / "run_id"; }
  [[nodiscard]] std::filesystem::path replies() const { return checkpoints() / "replies.journal"; }

  void append_round(const report::RoundReport& report) const;
  [[nodiscard]] std::vector<report::RoundReport> read_rounds()
      const;                                   // a torn last line is left out
  void keep_rounds_before(Round round) const;  // drops the others
  [[nodiscard]] bool is_finished() const;      // has a result.json

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};
}  // namespace fedhur::experiment
