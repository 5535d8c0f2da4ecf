#include "fedhur/experiment/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "fedhur/experiment/training.hpp"
#include "fedhur/linalg/blas.hpp"

namespace fedhur::experiment {
namespace {
// ConfigError if the folder holds a run that these settings do not give.
void check_same_settings(const BatchRun& run) {
  const std::filesystem::path file = RunFolder::open(run.folder).config();
  ConfigTable stored_table;
  add_toml_file(stored_table, file);
  const auto stored = resolve(with_absolute_paths(stored_table)).settings;
  const auto wanted = resolve(with_absolute_paths(run.settings)).settings;
  const ConfigValue given_by_the_data = std::string("given");
  const auto reject = [&](const std::string& key) {
    const auto show = [&](const ConfigValue* value) {
      return value == nullptr ? "not a setting" : fedhur::to_toml(*value);
    };
    throw ConfigError(fmt::format("{} holds a run with other settings: {} is {} there, and {} here",
                                  run.folder.string(), key, show(find_value(stored, key)),
                                  show(find_value(wanted, key))));
  };
  for (const Setting& entry : wanted) {
    const ConfigValue* before = find_value(stored, entry.key);
    if (!changes_results(entry.key) || (before != nullptr && *before == entry.value)) continue;
    // A split file has the last word where the settings say nothing.
    const bool is_of_the_data =
        before != nullptr && *before == given_by_the_data && !run.settings.contains(entry.key);
    if (!is_of_the_data) reject(entry.key);
  }
  for (const Setting& entry : stored) {
    if (find_value(wanted, entry.key) == nullptr) reject(entry.key);
  }
}

std::string describe(const std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const std::bad_alloc&) {
    return "there is not enough memory for this";
  } catch (const std::exception& error) {
    return error.what();
  }
}

class Batch {
 public:
  Batch(const std::vector<BatchRun>& runs, const BatchConfig& config, const BatchHooks& hooks)
      : runs_(&runs), config_(config), hooks_(&hooks), outcomes_(runs.size()) {}

  std::vector<BatchOutcome> run() {
    const auto num_workers = std::min<Index>(config_.parallel, static_cast<Index>(runs_->size()));
    if (config_.parallel > 1) threads_each_ = config_.parallel / std::max<Index>(1, num_workers);
    {
      // Not an Executor: its tasks flush denormals, which would change what servers compute.
      std::vector<std::jthread> workers;
      for (Index i = 1; i < num_workers; ++i) workers.emplace_back([this] { work(); });
      work();
    }
    if (failure_) std::rethrow_exception(failure_);
    return std::move(outcomes_);
  }

 private:
  void work() {
    for (std::size_t run = next_++; run < runs_->size() && !should_stop(); run = next_++) {
      BatchOutcome& outcome = outcomes_[run];
      try {
        outcome = train_or_resume(run);
      } catch (const FileError&) {
        call([] { throw; });  // no fault of this run, and the others would come to it too
      } catch (...) {
        outcome = {
            .state = RunState::failed, .result = {}, .problem = describe(std::current_exception())};
      }
      if (outcome.state == RunState::interrupted) continue;
      call([&] {
        if (hooks_->on_end) hooks_->on_end(run, outcome);
      });
    }
  }

  BatchOutcome train_or_resume(std::size_t index) {
    const BatchRun& run = (*runs_)[index];
    RunFolder::remove_unbegun(run.folder);
    const bool is_begun = RunFolder::is_run(run.folder);
    Round num_rounds = 0;
    if (is_begun) {
      const RunFolder folder = RunFolder::open(run.folder);
      num_rounds = static_cast<Round>(folder.read_rounds().size());
      if (!folder.is_finished() && is_paused(run, num_rounds)) {
        return {.state = RunState::paused, .result = {}, .problem = {}};
      }
    }
    TrainingHooks hooks;
    hooks.keeps_model = config_.keeps_models;
    hooks.on_round = [&](const report::RoundReport& report, const ExperimentConfig&) {
      num_rounds = report.round + 1;
      call([&] {
        if (hooks_->on_round) hooks_->on_round(index, report);
      });
    };
    hooks.should_stop = [&] { return is_paused(run, num_rounds) || should_stop(); };
    const TrainingOutcome outcome =
        is_begun ? resume(RunFolder::open(run.folder), threads_each_, hooks) : begin(run, hooks);
    if (!outcome.was_interrupted) {
      return {.state = RunState::finished, .result = outcome.result, .problem = {}};
    }
    return {.state = is_paused(run, num_rounds) ? RunState::paused : RunState::interrupted,
            .result = {},
            .problem = {}};
  }

  [[nodiscard]] TrainingOutcome begin(const BatchRun& run, const TrainingHooks& hooks) const {
    ConfigTable table = run.settings;
    if (threads_each_ > 0) table.set("threads", threads_each_, "the batch");
    try {
      return train(resolve(with_absolute_paths(table)), RunFolder::create(run.folder), hooks);
    } catch (...) {
      RunFolder::remove_unbegun(run.folder);
      throw;
    }
  }

  static bool is_paused(const BatchRun& run, Round num_rounds) {
    return run.pause_after > 0 && num_rounds >= run.pause_after;
  }

  bool should_stop() {
    call([this] {
      if (hooks_->should_stop && hooks_->should_stop()) is_stopping_ = true;
    });
    return is_stopping_;
  }

  // One hook at a time; none after one that threw.
  template <class Hook>
  void call(const Hook& hook) {
    const std::scoped_lock lock(mutex_);
    if (failure_) return;
    try {
      hook();
    } catch (...) {
      failure_ = std::current_exception();
      is_stopping_ = true;
    }
  }

  const std::vector<BatchRun>* runs_;
  BatchConfig config_;
  const BatchHooks* hooks_;
  std::vector<BatchOutcome> outcomes_;
  Index threads_each_ = 0;  // 0: as the settings of the run say
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::mutex mutex_;
  std::exception_ptr failure_;
};
}  // namespace

std::vector<BatchOutcome> run_batch(const std::vector<BatchRun>& runs, const BatchConfig& config,
                                    const BatchHooks& hooks) {
  expects(config.parallel >= 1, "a batch runs at least one at a time");
  linalg::prepare_blas(config.parallel);
  std::set<std::filesystem::path> folders;
  for (const BatchRun& run : runs) {
    expects(folders.insert(run.folder).second, "every run of a batch has a folder of its own");
    if (RunFolder::is_run(run.folder)) check_same_settings(run);
  }
  return Batch(runs, config, hooks).run();
}
}  // namespace fedhur::experiment
