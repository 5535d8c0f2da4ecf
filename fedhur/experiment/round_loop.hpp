// A run round by round: train, evaluate, keep the best, stop. The same loop whether the clients are
// in this process or at the other end of a network.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "fedhur/base/stopwatch.hpp"
#include "fedhur/data/interactions.hpp"
#include "fedhur/experiment/checkpoint.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/run_folder.hpp"
#include "fedhur/federation/server_method.hpp"
#include "fedhur/report/round_report.hpp"

namespace fedhur::experiment {
// How a run talks to its caller. All are optional and called from the thread that trains.
struct TrainingHooks {
  std::function<void(const std::string& message)> on_info;  // "ml-100k: 943 users, ..."
  std::function<void(const std::string& message)> on_warning;
  std::function<void(Round round, const std::string& phase)> on_phase;  // a phase begins
  std::function<void(const report::RoundReport& report, const ExperimentConfig& config)> on_round;
  std::function<bool()> should_stop;  // asked after every round: save and leave
  bool keeps_model = true;            // false leaves model/ out of the run folder
};
void warn(const TrainingHooks& hooks, const std::string& message);
void inform(const TrainingHooks& hooks, const std::string& message);

struct TrainingOutcome {
  bool was_interrupted = false;  // by should_stop: no result yet, the run can be resumed
  report::RunResult result;
};

// What the loop needs of a run. Everything referred to outlives the loop.
struct RunParts {
  const ExperimentConfig& config;
  const data::Dataset& dataset;  // for names; the server of a real federation has no rows of it
  const std::vector<Index>& train_counts;  // training rows of every item; 0 where not known
  federation::ServerMethod& server;
  federation::Federation& federation;
  std::function<void(const Progress& progress)> save;  // between two rounds, for a later resume
  Round checkpoint_every = 0;                          // as CheckpointConfig::every
  std::function<void(Round round)> on_trained = {};    // before the round is evaluated
  std::function<void()> write_model = {};              // at the end, of the best round
  // Who missed a part of the round that has just ended.
  std::function<std::vector<ClientId>()> take_absentees = {};
};

[[nodiscard]] TrainingOutcome run_rounds(const RunParts& parts, Progress progress,
                                         const RunFolder& folder, const TrainingHooks& hooks,
                                         const Stopwatch& sitting);
}  // namespace fedhur::experiment
