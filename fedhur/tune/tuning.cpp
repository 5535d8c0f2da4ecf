#include "fedhur/tune/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fedhur/base/file.hpp"
#include "fedhur/base/stopwatch.hpp"
#include "fedhur/experiment/batch.hpp"
#include "fedhur/experiment/run_folder.hpp"
#include "fedhur/tune/tuning_report.hpp"

namespace fedhur::tune {
using experiment::BatchOutcome;
using experiment::BatchRun;
using experiment::RunFolder;
using experiment::RunState;
namespace fs = std::filesystem;
namespace {
// A checkpoint may be larger than the rest of a run, and a run that has ended needs none.
void remove_checkpoints(const fs::path& run) {
  if (!RunFolder::is_run(run)) return;
  for (const auto& entry : fs::directory_iterator(RunFolder::open(run).checkpoints())) {
    fs::remove(entry.path());
  }
}

class Tuning {
 public:
  Tuning(const TunePlan& plan, const TuningFolder& folder, const TuneHooks& hooks)
      : plan_(&plan), folder_(&folder), hooks_(&hooks) {
    for (const Point& point : plan.points) {
      Trial trial;
      trial.number = outcome_.trials.size() + 1;
      trial.point = point;
      outcome_.trials.push_back(std::move(trial));
    }
  }

  TuneOutcome run() {
    for (std::size_t rung = 0; rung < plan_->rungs.size() && !is_stopped(); ++rung) {
      run_rung(rung, promote(rung));
    }
    write();
    const bool is_complete = count_trials(outcome_.trials, TrialState::waiting) == 0;
    if (is_complete) outcome_.was_interrupted = outcome_.is_out_of_time = false;  // too late
    return std::move(outcome_);
  }

 private:
  // The trials of a rung, in the order of the draw. All others that came as far are dropped.
  std::vector<std::size_t> promote(std::size_t rung) {
    std::vector<std::size_t> promoted;
    if (rung == 0) {
      for (std::size_t i = 0; i < outcome_.trials.size(); ++i) promoted.push_back(i);
      return promoted;
    }
    for (const std::size_t index : rank_after(outcome_.trials, rung)) {
      Trial& trial = outcome_.trials[index];
      if (promoted.size() < plan_->rungs[rung].num_trials) {
        promoted.push_back(index);
        continue;
      }
      trial.state = TrialState::dropped;
      for (const std::uint64_t seed : seeds()) remove_checkpoints(folder_->run(trial.number, seed));
    }
    std::sort(promoted.begin(), promoted.end());
    return promoted;
  }

  void run_rung(std::size_t rung, const std::vector<std::size_t>& promoted) {
    rung_ = {};
    rung_.progress.rung = rung;
    rung_.progress.num_trials = promoted.size();
    rung_.trials.resize(promoted.size());
    std::vector<BatchRun> runs;
    for (const std::size_t index : promoted) {
      const Trial& trial = outcome_.trials[index];
      for (const std::uint64_t seed : seeds()) {
        ConfigTable settings = settings_at(plan_->settings, plan_->space, trial.point);
        settings.set("seed", static_cast<std::int64_t>(seed), "--seeds");
        runs.push_back({.settings = std::move(settings),
                        .folder = folder_->run(trial.number, seed),
                        .pause_after = plan_->rungs[rung].num_rounds});
      }
    }
    rung_.run_seconds.resize(runs.size());
    experiment::BatchHooks hooks;
    hooks.on_round = [&](std::size_t run, const report::RoundReport& report) {
      for (const auto& [phase, seconds] : report.seconds) rung_.run_seconds[run] += seconds;
    };
    hooks.on_end = [&](std::size_t run, const BatchOutcome& outcome) {
      const std::size_t place = run / seeds().size();
      Ended& ended = rung_.trials[place];
      rung_.ended_runs.push_back(run);
      if (rung_.run_seconds[run] > 0.0 || outcome.state == RunState::failed) {
        ended.was_trained = true;
      }
      end_run(outcome_.trials[promoted[place]], ended, run % seeds().size(), outcome);
    };
    hooks.should_stop = [&] { return is_stopped(); };
    (void)experiment::run_batch(runs, {.parallel = plan_->config.parallel, .keeps_models = false},
                                hooks);
  }

  // What a trial's runs in the present rung have come to so far.
  struct Ended {
    std::size_t num_runs = 0;
    bool was_trained = false;           // in this sitting
    std::vector<TrialRun> runs;         // one per seed
    std::vector<std::string> problems;  // likewise; empty where it did not fail
  };

  void end_run(Trial& trial, Ended& ended, std::size_t seed_index, const BatchOutcome& outcome) {
    const std::uint64_t seed = seeds()[seed_index];
    const fs::path path = folder_->run(trial.number, seed);
    ended.runs.resize(seeds().size());
    ended.problems.resize(seeds().size());
    if (outcome.state == RunState::failed) {
      ended.problems[seed_index] = fmt::format("seed {}: {}", seed, outcome.problem);
      remove_checkpoints(path);
    } else {
      const Round num_rounds = plan_->rungs[rung_.progress.rung].num_rounds;
      const auto rounds = RunFolder::open(path).read_rounds();
      if (rounds.empty()) {
        throw DataError(fmt::format("{} has lost its rounds: remove it", path.string()));
      }
      // Only the rounds of this rung count, however far an earlier sitting came.
      ended.runs[seed_index] = summarize_run(
          rounds, num_rounds == 0 ? std::numeric_limits<Round>::max() : num_rounds, seed);
    }
    if (++ended.num_runs == seeds().size()) end_trial(trial, ended);
  }

  void end_trial(Trial& trial, const Ended& ended) {
    const auto problem =
        std::ranges::find_if_not(ended.problems, [](const auto& text) { return text.empty(); });
    if (problem != ended.problems.end()) {
      trial.state = TrialState::failed;
      trial.problem = *problem;
    } else {
      trial.runs = ended.runs;
      trial.scores.push_back(spread_over(trial, &TrialRun::valid, plan_->criterion).mean);
      if (trial.scores.size() == plan_->rungs.size()) trial.state = TrialState::finished;
    }
    ++rung_.progress.num_ended;
    if (!ended.was_trained) return;  // as it was in an earlier sitting
    write();
    if (hooks_->on_trial) hooks_->on_trial(trial, progress());
  }

  [[nodiscard]] RungProgress progress() const {
    RungProgress progress = rung_.progress;
    progress.seconds_left = seconds_left();
    const std::vector<std::size_t> order = rank_trials(outcome_.trials);
    if (!order.empty()) {
      progress.best = outcome_.trials[order.front()].number;
      progress.best_score = outcome_.trials[order.front()].scores.back();
    }
    return progress;
  }

  // As if the runs to come were like those of this sitting; runs of earlier ones cost nothing.
  [[nodiscard]] std::optional<double> seconds_left() const {
    std::vector<double> trained;
    for (const std::size_t run : rung_.ended_runs) {
      if (rung_.run_seconds[run] > 0.0) trained.push_back(rung_.run_seconds[run]);
    }
    if (trained.empty()) return std::nullopt;
    const auto num_left = static_cast<double>(rung_.run_seconds.size() - rung_.ended_runs.size());
    const double seconds =
        evaluate::spread_of(trained).mean * num_left / static_cast<double>(plan_->config.parallel);
    return std::min(seconds, std::max(0.0, plan_->config.max_seconds - watch_.seconds()));
  }

  [[nodiscard]] bool is_stopped() {
    if (hooks_->should_stop && hooks_->should_stop()) outcome_.was_interrupted = true;
    if (watch_.seconds() >= plan_->config.max_seconds) outcome_.is_out_of_time = true;
    return outcome_.was_interrupted || outcome_.is_out_of_time;
  }

  void write() const {
    std::string lines;
    for (const Trial& trial : outcome_.trials) {
      if (trial.scores.empty() && trial.state != TrialState::failed) continue;
      lines += to_json(trial, *plan_) + "\n";
    }
    write_file_atomically(folder_->trials(), lines);
    write_file_atomically(folder_->summary(), to_markdown(outcome_.trials, *plan_));
    const std::vector<std::size_t> order = rank_trials(outcome_.trials);
    if (order.empty()) return;
    const Trial& best = outcome_.trials[order.front()];
    write_file_atomically(folder_->best(),
                          fmt::format("# Trial {} of {}: mean valid {} {:.6f}\n{}", best.number,
                                      outcome_.trials.size(), plan_->criterion, best.scores.back(),
                                      config_at(*plan_, best.point)));
    write_file_atomically(
        folder_->tuned(),
        fmt::format("# Best of {} by validation {} over {} seed{}: trial {}, {:.4f}.\n{}",
                    outcome_.trials.size(), plan_->criterion, seeds().size(),
                    seeds().size() == 1 ? "" : "s", best.number, best.scores.back(),
                    tuned_at(*plan_, best.point)));
  }

  [[nodiscard]] const std::vector<std::uint64_t>& seeds() const { return plan_->config.seeds; }

  const TunePlan* plan_;
  const TuningFolder* folder_;
  const TuneHooks* hooks_;
  Stopwatch watch_;
  TuneOutcome outcome_;
  struct {
    RungProgress progress;
    std::vector<Ended> trials;
    std::vector<double> run_seconds;  // of the rounds of this sitting
    std::vector<std::size_t> ended_runs;
  } rung_;
};
}  // namespace

TuneOutcome run_tuning(const TunePlan& plan, const TuningFolder& folder, const TuneHooks& hooks) {
  return Tuning(plan, folder, hooks).run();
}
}  // namespace fedhur::tune
