// fedhur report: runs as one HTML file, or as figures for a paper.
#include "apps/report.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/figure_files.hpp"
#include "apps/output.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/experiment/read_run.hpp"
#include "fedhur/experiment/run_folder.hpp"
#include "fedhur/report/figures.hpp"
#include "fedhur/report/page.hpp"

namespace fedhur::apps {
namespace fs = std::filesystem;
namespace {
struct ReportFlags {
  std::vector<std::string> runs;
  std::string out;
  FigureFolders figures;
  bool is_forced = false;
  bool is_json = false;
  bool is_quiet = false;
};

struct Written {
  std::vector<std::string> reports;
  std::vector<std::string> figures;
  std::vector<std::string> warnings;
};

// One page, figures, or both, of all runs.
void write_comparison(const ReportFlags& flags, Written& written) {
  if (!flags.out.empty()) check_output_file(flags.out, flags.is_forced, {});
  std::vector<report::RunRecord> runs;
  for (const std::string& run : flags.runs) {
    runs.push_back(experiment::read_run(run, written.warnings));
  }
  const report::ReportModel model = report::make_report(std::move(runs));
  if (!flags.out.empty()) {
    write_file_atomically(flags.out, report::make_page(report::page_data(model)));
    written.reports.push_back(flags.out);
  }
  written.figures = write_figures(flags.figures, [&](report::FigureFormat format) {
    return report::draw_figures(model, format);
  });
  written.warnings.insert(written.warnings.end(), model.warnings.begin(), model.warnings.end());
}

void tell(const Written& written, const ReportFlags& flags) {
  for (const std::string& warning : written.warnings) {
    if (!flags.is_quiet) say(fmt::format("fedhur: warning: {}\n", warning));
  }
  if (flags.is_json) {
    const nlohmann::json json = {{"reports", written.reports}, {"figures", written.figures}};
    print(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    return;
  }
  for (const std::string& file : written.reports) print(fmt::format("report: {}\n", file));
  for (const std::string& file : written.figures) print(fmt::format("figure: {}\n", file));
}

int write_reports(const ReportFlags& flags) {
  if (flags.runs.empty()) {
    throw ConfigError("run folders are missing, as in 'fedhur report runs/fedhur-0001'");
  }
  Written written;
  if (!flags.out.empty() || flags.figures.are_wanted()) {
    write_comparison(flags, written);
  } else {
    for (const std::string& run : flags.runs) {
      written.reports.push_back(write_run_report(run, written.warnings).string());
    }
  }
  tell(written, flags);
  return ExitCode::done;
}
}  // namespace

fs::path write_run_report(const fs::path& run, std::vector<std::string>& warnings) {
  const auto model = report::make_report({experiment::read_run(run.string(), warnings)});
  fs::path file = experiment::RunFolder::open(run).report();
  write_file_atomically(file, report::make_page(report::page_data(model)));
  return file;
}

Command add_report(CLI::App& parent) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* app =
      parent.add_subcommand("report", "Runs as an HTML page with charts, or as figures");
  app->add_option("runs", flags->runs, "Run folders")->type_name("RUN");
  app->add_option("--out", flags->out,
                  "One page of all runs, compared (default: report.html in each run folder)")
      ->type_name("FILE.html");
  add_figure_flags(*app, flags->figures, "Figures instead, drawn by gnuplot into this folder");
  app->add_flag("--force", flags->is_forced, "Overwrite the file of --out");
  app->add_flag("--json", flags->is_json, "One JSON object on standard output");
  app->add_flag("--quiet", flags->is_quiet, "Nothing but the result");
  app->footer(R"(
The page needs no network and no other file. Runs that differ only in their seed are shown as their
mean. A run that is not finished is shown as far as it got. Beside every figure is its gnuplot
script, data included.

Examples:
  fedhur report runs/fedhur-0001
  fedhur report runs/* --out comparison.html
  fedhur report runs/* --pdf figures)");
  return {.app = app, .run = [flags] { return write_reports(*flags); }};
}
}  // namespace fedhur::apps
