// fedhur report: runs as one HTML file.
#include "apps/report.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/output.hpp"
#include "apps/page_data.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/report/page.hpp"

namespace fedhur::apps {
namespace fs = std::filesystem;
namespace {
struct ReportFlags {
  std::vector<std::string> runs;
  std::string out;
  bool is_forced = false;
  bool is_json = false;
  bool is_quiet = false;
};

fs::path write_comparison(const ReportFlags& flags, std::vector<std::string>& warnings) {
  check_output_file(flags.out, flags.is_forced, {});
  std::vector<RunRecord> runs;
  for (const std::string& run : flags.runs) runs.push_back(read_run(run, warnings));
  shorten_names(runs);
  const std::vector<std::string> unfair = find_unfairness(runs);
  write_file_atomically(flags.out, report::make_page(page_data(runs, unfair)));
  warnings.insert(warnings.end(), unfair.begin(), unfair.end());
  return flags.out;
}

int report(const ReportFlags& flags) {
  if (flags.runs.empty()) {
    throw ConfigError("run folders are missing, as in 'fedhur report runs/fedhur-0001'");
  }
  std::vector<std::string> warnings;
  std::vector<std::string> written;
  if (!flags.out.empty()) {
    written.push_back(write_comparison(flags, warnings).string());
  } else {
    for (const std::string& run : flags.runs) {
      written.push_back(write_run_report(run, warnings).string());
    }
  }
  for (const std::string& warning : warnings) {
    if (!flags.is_quiet) say(fmt::format("fedhur: warning: {}\n", warning));
  }
  if (flags.is_json) {
    print(nlohmann::json{{"reports", written}}.dump(-1, ' ', false,
                                                    nlohmann::json::error_handler_t::replace) +
          "\n");
  } else {
    for (const std::string& file : written) print(fmt::format("report: {}\n", file));
  }
  return ExitCode::done;
}
}  // namespace

fs::path write_run_report(const fs::path& run, std::vector<std::string>& warnings) {
  std::vector<RunRecord> runs = {read_run(run.string(), warnings)};
  shorten_names(runs);
  const fs::path file = experiment::RunFolder::open(run).report();
  write_file_atomically(file, report::make_page(page_data(runs, {})));
  return file;
}

Command add_report(CLI::App& parent) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* app = parent.add_subcommand("report", "Runs as an HTML page with charts");
  app->add_option("runs", flags->runs, "Run folders")->type_name("RUN");
  app->add_option("--out", flags->out,
                  "One page of all runs, compared (default: report.html in each run folder)")
      ->type_name("FILE.html");
  app->add_flag("--force", flags->is_forced, "Overwrite the file of --out");
  app->add_flag("--json", flags->is_json, "One JSON object on standard output");
  app->add_flag("--quiet", flags->is_quiet, "Nothing but the result");
  app->footer(R"(
The page needs no network and no other file. Runs that differ only in their seed are shown as their
mean. A run that is not finished is shown as far as it got.

Examples:
  fedhur report runs/fedhur-0001
  fedhur report runs/* --out comparison.html)");
  return {.app = app, .run = [flags] { return report(*flags); }};
}
}  // namespace fedhur::apps
