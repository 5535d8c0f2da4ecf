// fedhur train: trains and evaluates one configuration, or goes on with a run.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <regex>

#include "apps/command.hpp"
#include "apps/common_flags.hpp"
#include "apps/log_format.hpp"
#include "apps/output.hpp"
#include "apps/training_display.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/experiment/training.hpp"
#include "fedhur/report/result_text.hpp"

namespace fedhur::apps {
namespace {
using experiment::RunFolder;
using experiment::TrainingOutcome;

struct TrainFlags {
  SettingFlags settings;
  std::string out;
  std::string resume;
  std::optional<std::int64_t> dump_round;
  std::string dump_dir;
  DisplayFlags display;
  bool shows_config = false;
  bool explains_settings = false;
};

int finish(const TrainingOutcome& outcome, const RunFolder& folder, const TrainFlags& flags) {
  const std::string path = shell_quoted(folder.path());
  if (outcome.was_interrupted) {
    say_line(flags.display.log_format,
             fmt::format("fedhur: stopped after round {}; to go on: fedhur train --resume {}",
                         outcome.result.num_rounds, path));
    return ExitCode::interrupted;
  }
  print(flags.display.is_json ? report::to_json(outcome.result) + "\n"
                              : report::format_result(outcome.result));
  if (!flags.display.is_json && !flags.display.is_quiet) {
    say_line(flags.display.log_format,
             fmt::format("recommendations: fedhur recommend {} --user ID", path));
    if (std::filesystem::is_regular_file(folder.report())) {
      say_line(flags.display.log_format, fmt::format("report: {}", folder.report().string()));
    }
  }
  return ExitCode::done;
}

int resume_run(const TrainFlags& flags) {
  std::vector<std::string> settled = flags.settings.settled_by_a_run();
  if (!flags.out.empty()) settled.emplace_back("--out");
  if (flags.shows_config) settled.emplace_back("--show-config");
  if (flags.explains_settings) settled.emplace_back("--help-settings");
  if (flags.dump_round) settled.emplace_back("--dump-round");
  if (!flags.dump_dir.empty()) settled.emplace_back("--dump-dir");
  reject_settled(settled);
  const Index threads = flags.settings.threads.value_or(0);
  check_range("--threads", threads, 0, 1024);
  const RunFolder folder = RunFolder::open(flags.resume);
  const auto outcome = show_training(folder, flags.display, [&](const auto& hooks, const auto&) {
    return experiment::resume(folder, threads, hooks);
  });
  return finish(outcome, folder, flags);
}

std::optional<experiment::DumpConfig> read_dump(const TrainFlags& flags) {
  if (!flags.dump_round && flags.dump_dir.empty()) return std::nullopt;
  if (!flags.dump_round || flags.dump_dir.empty()) {
    throw ConfigError(
        fmt::format("{} is missing: --dump-round says which round to write, "
                    "--dump-dir where to",
                    flags.dump_round ? "--dump-dir" : "--dump-round"));
  }
  return experiment::DumpConfig{.round = *flags.dump_round, .folder = flags.dump_dir};
}

// Every setting with its default, what is allowed, and what it means.
std::string explain(const std::vector<Setting>& settings) {
  const std::regex link(R"(\[([^\]]*)\]\(([^)]*)\))");
  std::string text;
  for (const Setting& setting : settings) {
    const std::string meaning = setting.meaning + (setting.note.empty() ? "" : "; ") + setting.note;
    text += fmt::format("{} = {}  ({}{}{})\n    {}\n", setting.key, to_toml(setting.fallback),
                        setting.letter, setting.letter.empty() ? "" : ", ", setting.allowed,
                        std::regex_replace(meaning, link, "$1: docs/$2"));
  }
  return text;
}

int train_run(const TrainFlags& flags) {
  ConfigTable table = flags.settings.to_table();
  const bool only_shows = flags.shows_config || flags.explains_settings;
  if (!only_shows) table = experiment::with_absolute_paths(std::move(table));
  // Mistakes come to light before there is a folder.
  const experiment::ResolvedConfig resolved = experiment::resolve(table);
  const auto dump = read_dump(flags);
  if (dump) experiment::check_dump(*dump, resolved.config);
  if (only_shows) {
    print(flags.shows_config ? experiment::to_toml(resolved.settings) : explain(resolved.settings));
    return ExitCode::done;
  }
  const RunFolder folder = flags.out.empty()
                               ? RunFolder::create_numbered("runs", resolved.config.method)
                               : RunFolder::create(flags.out);
  const FreshFolder fresh(folder);
  const auto outcome = show_training(folder, flags.display, [&](const auto& hooks, const auto&) {
    return experiment::train(resolved, folder, hooks, dump);
  });
  return finish(outcome, folder, flags);
}

std::string method_list() {
  std::vector<std::vector<std::string>> rows;
  for (const auto& method : methods::all_methods()) rows.push_back({method.name, method.summary});
  return format_table(rows, {Align::left, Align::left}, "  ");
}

constexpr const char* kSettings = R"(
Settings: --set stop.max_rounds=50 --set wire.precision=int8, or a TOML file. --help-settings
explains those of a method, --show-config prints what they come to.

Examples:
  fedhur train
  fedhur train --data ml-100k/u.data --method fedcia --out runs/first
  fedhur train --data ml-100k/u.data --method fedncf --tuned
  fedhur train --data ml-100k/u.data --preset paper
  fedhur train --data ratings.csv --set clients.count=20 --set train.learning_rate=0.01
  fedhur train --config runs/first/config.toml      repeats that run
  fedhur train --resume runs/first                  goes on after Ctrl-C
  fedhur train --method fedhur --dump-round 4 --dump-dir round4)";
}  // namespace

Command add_train(CLI::App& parent) {
  auto flags = std::make_shared<TrainFlags>();
  CLI::App* app = parent.add_subcommand("train", "Train and evaluate one configuration");
  add_train_flags(*app, flags->settings);
  add_setting_flags(*app, flags->settings);
  add_ready_made_flags(*app, flags->settings);
  add_value(*app, "--out", flags->out, "DIR", "Run folder (default: runs/<method>-<number>)");
  add_value(*app, "--resume", flags->resume, "RUN", "Go on with an interrupted run");
  add_value(*app, "--dump-round", flags->dump_round, "R",
            "Write the inside of this round as NumPy arrays (fedcia, fedhur)");
  add_value(*app, "--dump-dir", flags->dump_dir, "DIR", "New folder for them");
  app->add_flag("--show-config", flags->shows_config, "Print the complete configuration and leave");
  app->add_flag("--help-settings", flags->explains_settings,
                "Print what the method's settings mean, with defaults and ranges, and leave");
  add_display_flags(*app, flags->display, "Nothing but the result", true);
  app->footer([] { return "Methods:\n" + method_list() + kSettings; });
  return {.app = app, .run = [flags] {
            return tell_failures(flags->display.log_format, [&] {
              return flags->resume.empty() ? train_run(*flags) : resume_run(*flags);
            });
          }};
}
}  // namespace fedhur::apps
