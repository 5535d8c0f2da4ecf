// A run between two rounds, on disk.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "fedhur/base/stopwatch.hpp"
#include "fedhur/experiment/party.hpp"
#include "fedhur/report/round_report.hpp"

namespace fedhur::experiment {
// What the round loop itself remembers.
struct Progress {
  Round next_round = 0;
  Round best_round = 0;
  double best_score = 0.0;
  report::Metrics best_valid;
  report::Metrics best_test;
  std::map<std::string, double> seconds;  // total and by phase, over all sittings
  double bytes_up = 0.0;                  // of the method, over all clients and rounds
  double bytes_down = 0.0;
  NamedArrays inside;  // of the best round, for report::look_inside()
  // Of the next exchange with clients that are elsewhere; they count along.
  std::uint64_t next_sequence = 1;
  std::vector<std::byte> missed;  // as DropoutFederation::save(); empty without dropout
};

// Decides when a checkpoint is worth its time: when what would have to be done again has taken many
// times as long, by `Watch`.
template <class Watch>
class CheckpointClock {
 public:
  explicit CheckpointClock(Round every) : every_(every) {}
  [[nodiscard]] bool is_due(Round next_round) const {
    if (every_ > 0) return next_round % every_ == 0;
    constexpr double kMostShare = 0.05;
    return since_last_.seconds() * kMostShare >= last_cost_;
  }
  void note(double cost) {
    last_cost_ = cost;
    since_last_ = Watch();
  }

 private:
  Round every_;
  double last_cost_ = 0.05;  // a guess until the first was written
  Watch since_last_;
};

// Writes checkpoints/round-<next_round>.ckpt, whole or not at all, then removes older ones.
void write_checkpoint(const std::filesystem::path& folder, const Progress& progress,
                      const federation::ServerMethod& server, const Party& party);
// Restores the newest checkpoint; nothing if there is none. DataError if it is damaged.
[[nodiscard]] std::optional<Progress> restore_checkpoint(const std::filesystem::path& folder,
                                                         federation::ServerMethod& server,
                                                         Party& party);
}  // namespace fedhur::experiment
