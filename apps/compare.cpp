// fedhur compare: runs side by side.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "apps/command.hpp"
#include "apps/output.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/base/text.hpp"
#include "fedhur/experiment/read_run.hpp"
#include "fedhur/report/result_text.hpp"

namespace fedhur::apps {
namespace {
struct CompareFlags {
  std::vector<std::string> runs;
  bool is_json = false;
  bool is_csv = false;
};

report::ReportModel read_finished(const std::vector<std::string>& folders) {
  std::vector<report::RunRecord> runs;
  std::vector<std::string> warnings;
  for (const std::string& folder : folders) {
    runs.push_back(experiment::read_run(folder, warnings, false));
    if (runs.back().is_finished) continue;
    throw ConfigError(fmt::format(
        "{} is not finished and has no result yet; finish it with 'fedhur train --resume {}'",
        folder, shell_quoted(folder)));
  }
  report::ReportModel model = report::make_report(std::move(runs));
  model.warnings.insert(model.warnings.begin(), warnings.begin(), warnings.end());
  return model;
}

int compare(const CompareFlags& flags) {
  if (flags.runs.empty()) {
    throw ConfigError("run folders are missing, as in 'fedhur compare runs/a runs/b'");
  }
  if (flags.is_json && flags.is_csv) throw ConfigError("--json and --csv exclude each other");
  const report::ReportModel model = read_finished(flags.runs);
  for (const std::string& warning : model.warnings) {
    say(fmt::format("fedhur: warning: {}\n", warning));
  }
  const auto width = static_cast<std::size_t>(terminal_width(STDOUT_FILENO));
  print(flags.is_json  ? report::comparison_json(model)
        : flags.is_csv ? report::comparison_csv(model)
                       : report::format_comparison(model, width));
  return ExitCode::done;
}
}  // namespace

Command add_compare(CLI::App& parent) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* app = parent.add_subcommand("compare", "Side by side table of runs");
  app->add_option("runs", flags->runs, "Run folders")->type_name("RUN");
  app->add_flag("--json", flags->is_json, "One JSON object on standard output");
  app->add_flag("--csv", flags->is_csv, "One line per run");
  app->footer("\nExample:\n  fedhur compare runs/*");
  return {.app = app, .run = [flags] { return compare(*flags); }};
}
}  // namespace fedhur::apps
