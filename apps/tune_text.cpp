#include "apps/tune_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/text.hpp"
#include "fedhur/tune/effects.hpp"
#include "fedhur/tune/tuning_report.hpp"

namespace fedhur::apps {
namespace {
using tune::Rung;
using tune::Trial;
using tune::TrialState;

std::string format_rungs(const std::vector<Rung>& rungs) {
  std::vector<std::string> parts;
  for (const Rung& rung : rungs) {
    parts.push_back(rung.num_rounds == 0
                        ? fmt::format("{} to the end", rung.num_trials)
                        : fmt::format("{} for {} rounds", rung.num_trials, rung.num_rounds));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string trials_text(std::size_t count) {
  return fmt::format("{} trial{}", count, count == 1 ? "" : "s");
}

std::string format_score(const Trial& trial, const std::string& criterion) {
  const evaluate::Spread valid = tune::spread_over(trial, &tune::TrialRun::valid, criterion);
  return trial.runs.size() > 1 ? fmt::format("{:.4f} +- {:.4f}", valid.mean, valid.deviation)
                               : fmt::format("{:.4f}", valid.mean);
}
}  // namespace

std::string format_plan(const tune::TunePlan& plan) {
  const tune::TuneConfig& config = plan.config;
  std::string text = fmt::format(
      "{} on {}: {} search, {}, seeds {}, {} at a time, by validation {}\n", plan.method,
      printable(plan.data), name_of(config.search), trials_text(plan.points.size()),
      fmt::join(config.seeds, ", "), config.parallel, plan.criterion);
  if (plan.grid_size && *plan.grid_size > plan.points.size()) {
    text += fmt::format("the space has {} points: {} of them are drawn, none twice\n",
                        *plan.grid_size, plan.points.size());
  } else if (plan.points.size() < config.num_trials) {
    text += fmt::format("the space has no more than {} points\n", plan.points.size());
  }
  if (plan.rungs.size() > 1) text += fmt::format("trials: {}\n", format_rungs(plan.rungs));
  return text;
}

std::string format_trial(const Trial& trial, const tune::RungProgress& progress,
                         const tune::TunePlan& plan) {
  std::string text = fmt::format("{} {:>3}/{}  trial {:>3}  ", plan.method, progress.num_ended,
                                 progress.num_trials, trial.number);
  if (plan.rungs.size() > 1) {
    text += fmt::format("rung {}/{}  ", progress.rung + 1, plan.rungs.size());
  }
  if (trial.state == TrialState::failed) {
    text += "failed: " + printable(trial.problem);
  } else {
    text += fmt::format("valid {} {}", plan.criterion, format_score(trial, plan.criterion));
  }
  if (progress.best) {
    text += fmt::format("  best {:.4f} (trial {})", progress.best_score, *progress.best);
  }
  if (progress.seconds_left && progress.num_ended < progress.num_trials) {
    text += fmt::format("  about {} left", format_clock(*progress.seconds_left));
    if (progress.rung + 1 < plan.rungs.size()) text += " in this rung";
  }
  return text + "\n";
}

std::string format_outcome(const tune::TuneOutcome& outcome, const tune::TunePlan& plan,
                           const tune::TuningFolder& folder) {
  constexpr std::size_t kMostRows = 10;
  auto rows = tune::ranking_table(outcome.trials, plan);
  const std::size_t num_ranked = rows.size() - 1;
  if (num_ranked > kMostRows) rows.resize(kMostRows + 1);
  std::string text =
      fmt::format("{} on {}: {} search, {}, seeds {}\n\n", plan.method, printable(plan.data),
                  name_of(plan.config.search), trials_text(outcome.trials.size()),
                  fmt::join(plan.config.seeds, ", "));
  text += format_table(rows, {}) + "\n";
  if (num_ranked > kMostRows) {
    text += fmt::format("the best {} of {}; all are in {}\n", kMostRows, num_ranked,
                        shell_quoted(folder.summary()));
  }
  const std::size_t num_failed = tune::count_trials(outcome.trials, TrialState::failed);
  if (num_failed > 0) {
    text += fmt::format("{} of {} trials failed; {} tells why\n", num_failed, outcome.trials.size(),
                        shell_quoted(folder.trials()));
  }
  const std::string effect =
      tune::describe_largest(tune::find_effects(outcome.trials, plan.space), plan.criterion);
  if (!effect.empty()) text += effect + "\n";
  return text + fmt::format("to train with the best: fedhur train --config {}\n",
                            shell_quoted(folder.best()));
}

std::vector<std::string> format_best(const tune::TuneOutcome& outcome, const tune::TunePlan& plan) {
  const Trial& best = outcome.trials[tune::rank_trials(outcome.trials).front()];
  double seconds = 0.0;
  for (const Trial& trial : outcome.trials) {
    for (const tune::TrialRun& run : trial.runs) seconds += run.seconds;
  }
  return {
      plan.method,
      fmt::format("{}", outcome.trials.size()),
      fmt::format("{}", best.number),
      fmt::format("{} {}", plan.criterion, format_score(best, plan.criterion)),
      fmt::format("{:.4f}", tune::spread_over(best, &tune::TrialRun::test, plan.criterion).mean),
      fmt::format("{:.1f}", seconds)};
}

std::string format_methods(std::vector<std::vector<std::string>> rows) {
  rows.insert(rows.begin(), {"method", "trials", "best", "valid", "test", "seconds of all"});
  return format_table(rows, {Align::left});
}
}  // namespace fedhur::apps
