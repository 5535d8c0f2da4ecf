// How far a run is: a live line on a terminal, else a line per round.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "apps/log_format.hpp"
#include "fedhur/base/stopwatch.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/report/round_report.hpp"

namespace fedhur::apps {
enum class ProgressStyle : std::uint8_t { none, lines, bar };
// What suits standard error.
[[nodiscard]] ProgressStyle choose_progress_style(const DisplayFlags& flags);

// Of all its phases.
[[nodiscard]] double round_seconds(const report::RoundReport& report);

// "round   3  loss 0.5012  valid ndcg@10 0.1234 recall@10 0.1500  test ndcg@10 0.1200  0.52 s  *"
[[nodiscard]] std::string format_round(const report::RoundReport& report);

// What the live line tells.
struct ProgressState {
  Round round = 0;       // under way, 0-based
  Round num_done = 0;    // rounds behind us
  Round max_rounds = 0;  // 0: not known yet
  std::string phase;
  std::optional<Round> best_round;  // 0-based
  Round patience = 0;               // rounds without a better one before it stops
  Round min_rounds = 0;
  std::string metric;              // its name; empty before the first round
  std::string latest;              // and its value after the last round
  double elapsed = 0.0;            // seconds of this sitting
  double seconds_per_round = 0.0;  // 0: not known yet
};
// At most `width` columns; what matters least is left out first.
[[nodiscard]] std::string format_bar(const ProgressState& state, std::size_t width);

class ProgressDisplay {
 public:
  explicit ProgressDisplay(ProgressStyle style) : style_(style) {}
  ~ProgressDisplay() { clear(); }
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void begin_phase(Round round, const std::string& phase);
  void end_round(const report::RoundReport& report, const experiment::ExperimentConfig& config);
  // The best round so far, of an earlier sitting.
  void set_best_round(Round round) { state_.best_round = round; }
  void clear();  // takes the live line away, so that something else can be said

 private:
  void draw();
  ProgressStyle style_;
  ProgressState state_;
  Stopwatch watch_;
  double round_began_ = 0.0;  // by watch_
  bool is_drawn_ = false;
};
}  // namespace fedhur::apps
