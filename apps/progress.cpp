#include "apps/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "apps/output.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/report/result_text.hpp"

namespace fedhur::apps {
namespace {
std::string round_count(const ProgressState& state) {
  return state.max_rounds > 0 ? fmt::format("round {}/{}", state.round + 1, state.max_rounds)
                              : fmt::format("round {}", state.round + 1);
}

std::string meter(const ProgressState& state) {
  constexpr Round kCells = 20;
  const Round done =
      state.max_rounds > 0 ? std::min(kCells, kCells * state.num_done / state.max_rounds) : 0;
  return fmt::format("[{}{}]", std::string(static_cast<std::size_t>(done), '#'),
                     std::string(static_cast<std::size_t>(kCells - done), '.'));
}

// Rounds before it stops unless one is better than the best.
Round patience_left(const ProgressState& state) {
  const Round since_best =
      state.best_round ? state.num_done - 1 - *state.best_round : state.num_done;
  return std::clamp<Round>(state.patience - since_best, 0, state.patience);
}

// From the earliest possible end, when no round is better any more, to the last round.
std::string time_left(const ProgressState& state) {
  if (state.max_rounds == 0 || state.seconds_per_round <= 0.0) return "";
  const Round most = std::max<Round>(state.max_rounds - state.num_done, 0);
  const Round least = std::min(
      most, std::max<Round>({patience_left(state), state.min_rounds - state.num_done, Round{0}}));
  const auto clock = [&](Round rounds) {
    return format_clock(static_cast<double>(rounds) * state.seconds_per_round);
  };
  return least == most ? fmt::format(", {} left", clock(most))
                       : fmt::format(", {} to {} left", clock(least), clock(most));
}
}  // namespace

double round_seconds(const report::RoundReport& report) {
  if (const auto total = report.seconds.find("total"); total != report.seconds.end()) {
    return total->second;
  }
  double sum = 0.0;
  for (const auto& [phase, seconds] : report.seconds) sum += seconds;
  return sum;
}

ProgressStyle choose_progress_style(const DisplayFlags& flags) {
  if (flags.is_quiet || flags.log_format == LogFormat::json) return ProgressStyle::none;
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return flags.is_json || is_dumb || ::isatty(STDERR_FILENO) == 0 ? ProgressStyle::lines
                                                                  : ProgressStyle::bar;
}

std::string format_round(const report::RoundReport& report) {
  const std::string ndcg = evaluate::headline_metric(report.valid, "ndcg");
  const std::string recall = evaluate::headline_metric(report.valid, "recall");
  return fmt::format("round {:3}  loss {:.4f}  valid {} {} {} {}  test {} {}  {:.2f} s{}",
                     report.round + 1, report.loss, ndcg, report::format_metric(report.valid, ndcg),
                     recall, report::format_metric(report.valid, recall), ndcg,
                     report::format_metric(report.test, ndcg), round_seconds(report),
                     report.is_best ? "  *" : "");
}

std::string format_bar(const ProgressState& state, std::size_t width) {
  struct Part {
    std::string text;
    int importance;
  };
  std::vector<Part> parts = {{round_count(state), 9}};
  if (state.max_rounds > 0) parts.push_back({meter(state), 1});
  parts.push_back({report::words(state.phase), 4});
  if (!state.metric.empty()) parts.push_back({state.metric + " " + state.latest, 8});
  if (state.best_round) parts.push_back({fmt::format("best round {}", *state.best_round + 1), 6});
  if (state.max_rounds > 0) parts.push_back({fmt::format("patience {}", patience_left(state)), 3});
  parts.push_back({format_clock(state.elapsed) + time_left(state), 5});

  const auto join = [&parts] {
    std::string line;
    for (const Part& part : parts) {
      if (!line.empty() && !part.text.empty()) line += "  ";
      line += part.text;
    }
    return line;
  };
  std::string line = join();
  while (line.size() > width && parts.size() > 1) {
    parts.erase(std::ranges::min_element(parts, {}, &Part::importance));
    line = join();
  }
  return line.substr(0, width);
}

void ProgressDisplay::begin_phase(Round round, const std::string& phase) {
  if (round != state_.round || state_.phase.empty()) round_began_ = watch_.seconds();
  state_.round = round;
  state_.num_done = round;
  state_.phase = phase;
  draw();
}

void ProgressDisplay::end_round(const report::RoundReport& report,
                                const experiment::ExperimentConfig& config) {
  if (style_ == ProgressStyle::lines) say(format_round(report) + "\n");
  const double now = watch_.seconds();
  const double took = now - round_began_;
  constexpr double kMemory = 0.7;  // rounds differ; the latest ones tell best
  state_.seconds_per_round = state_.seconds_per_round > 0.0
                                 ? kMemory * state_.seconds_per_round + (1.0 - kMemory) * took
                                 : took;
  round_began_ = now;
  state_.max_rounds = config.stop.max_rounds;
  state_.patience = config.stop.patience;
  state_.min_rounds = config.stop.min_rounds;
  if (report.is_best) state_.best_round = report.round;
  state_.metric = evaluate::headline_metric(report.valid, "ndcg");
  state_.latest = report::format_metric(report.valid, state_.metric);
  state_.num_done = report.round + 1;
  state_.phase = "saving";
  draw();
}

void ProgressDisplay::draw() {
  if (style_ != ProgressStyle::bar) return;
  const int columns = std::max(terminal_width(STDERR_FILENO), 2);  // it may have been resized
  state_.elapsed = watch_.seconds();
  say("\r" + format_bar(state_, static_cast<std::size_t>(columns) - 1) + "\x1b[K");
  is_drawn_ = true;
}

void ProgressDisplay::clear() {
  if (is_drawn_) say("\r\x1b[K");
  is_drawn_ = false;
}
}  // namespace fedhur::apps
