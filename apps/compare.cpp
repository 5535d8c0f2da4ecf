// fedhur compare: runs side by side.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/command.hpp"
#include "apps/comparison.hpp"
#include "apps/output.hpp"
#include "apps/result_text.hpp"
#include "apps/text.hpp"
#include "fedhur/base/error.hpp"

namespace fedhur::apps {
namespace {
using report::Metrics;
using report::RunResult;
using Json = nlohmann::ordered_json;
using Runs = std::vector<RunRecord>;
using Row = std::vector<std::string>;

std::vector<std::string> all_metric_names(const Runs& runs, Metrics RunResult::*part) {
  std::vector<Metrics> metrics;
  for (const RunRecord& run : runs) metrics.push_back(run.result.*part);
  return metric_names(metrics);
}

// A row of the whole table; blocks of columns are taken from it.
Row describe_runs(const Runs& runs, const std::string& label,
                  const std::function<std::string(const RunResult&)>& value) {
  Row row = {label};
  // A space where a metric may have its mark.
  for (const RunRecord& run : runs) row.push_back(value(run.result) + " ");
  return row;
}

Row metric_row(const Runs& runs, const std::string& part_name, Metrics RunResult::*part,
               const std::string& name) {
  double best = -INFINITY;
  for (const RunRecord& run : runs) {
    const Metrics& metrics = run.result.*part;
    if (metrics.contains(name)) best = std::fmax(best, metrics.at(name));
  }
  Row row = {part_name + " " + name};
  for (const RunRecord& run : runs) {
    const Metrics& metrics = run.result.*part;
    const bool is_best = runs.size() > 1 && metrics.contains(name) && metrics.at(name) == best;
    row.push_back(format_metric(metrics, name) + (is_best ? "*" : " "));
  }
  return row;
}

double total_seconds(const RunResult& result) {
  const auto total = result.seconds.find("total");
  return total == result.seconds.end() ? 0.0 : total->second;
}

std::vector<Row> table_of(const Runs& runs) {
  std::vector<Row> rows = {{""}};
  for (const RunRecord& run : runs) rows[0].push_back(printable(run.name) + " ");
  const auto add = [&](const char* label,
                       const std::function<std::string(const RunResult&)>& value) {
    rows.push_back(describe_runs(runs, label, value));
  };
  add("method", [](const RunResult& r) { return r.method; });
  add("data", [](const RunResult& r) { return printable(r.data); });
  add("seed", [](const RunResult& r) { return fmt::format("{}", r.seed); });
  add("clients", [](const RunResult& r) { return fmt::format("{}", r.num_clients); });
  add("rounds", [](const RunResult& r) { return fmt::format("{}", r.num_rounds); });
  add("best round", [](const RunResult& r) { return fmt::format("{}", r.best_round); });
  for (const std::string& name : all_metric_names(runs, &RunResult::test)) {
    rows.push_back(metric_row(runs, "test", &RunResult::test, name));
  }
  for (const std::string& name : all_metric_names(runs, &RunResult::valid)) {
    rows.push_back(metric_row(runs, "valid", &RunResult::valid, name));
  }
  add("seconds", [](const RunResult& r) { return fmt::format("{:.1f}", total_seconds(r)); });
  // Per client and round: what a client has to send and receive each time.
  add("MB up", [](const RunResult& r) { return fmt::format("{:.3f}", r.bytes_up / 1e6); });
  add("MB down", [](const RunResult& r) { return fmt::format("{:.3f}", r.bytes_down / 1e6); });
  return rows;
}

// The first column and `count` others from `first`.
std::string format_block(const std::vector<Row>& rows, std::size_t first, std::size_t count) {
  std::vector<Row> block;
  for (const Row& row : rows) {
    Row& cells = block.emplace_back(Row{row.front()});
    cells.insert(cells.end(), row.begin() + static_cast<std::ptrdiff_t>(first),
                 row.begin() + static_cast<std::ptrdiff_t>(first + count));
  }
  return format_table(block, {Align::left});
}

std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    widest = std::max(widest, display_width(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return widest;
}

// As many runs beside each other as fit; 0: all.
std::string format_blocks(const std::vector<Row>& rows, std::size_t width) {
  std::string text;
  const std::size_t end = rows.front().size();
  for (std::size_t first = 1; first < end;) {
    std::size_t count = end - first;
    std::string block = format_block(rows, first, count);
    while (width > 0 && count > 1 && widest_line(block) > width) {
      block = format_block(rows, first, --count);
    }
    text += (text.empty() ? "" : "\n") + block;
    first += count;
  }
  return text;
}

std::string format_groups(const Comparison& comparison) {
  std::string text;
  for (const SeedGroup& group : comparison.groups) {
    std::vector<std::string> seeds;
    for (const std::size_t run : group.runs) {
      seeds.push_back(fmt::format("{}", comparison.runs[run].result.seed));
    }
    std::vector<std::string> parts;
    const Metrics& test = comparison.runs[group.runs.front()].result.test;
    for (const std::string& name : metric_names({test})) {
      const auto& spread = group.test.at(name);
      parts.push_back(fmt::format("{} {:.4f} +- {:.4f}", name, spread.mean, spread.deviation));
    }
    text += fmt::format("{} over seeds {}: test {}\n",
                        comparison.runs[group.runs.front()].result.method, fmt::join(seeds, ", "),
                        fmt::join(parts, ", "));
  }
  return text.empty() ? text : "\n" + text;
}

std::string format_comparison(const Comparison& comparison, std::size_t width) {
  std::string text = format_blocks(table_of(comparison.runs), width);
  text += "\nMB are per client and round";
  text += comparison.runs.size() > 1 ? "; * marks the best\n" : "\n";
  text += format_groups(comparison);
  if (comparison.settings.empty()) return text;
  std::vector<Row> rows = {{""}};
  for (const RunRecord& run : comparison.runs) rows[0].push_back(printable(run.name));
  for (const DifferingSetting& setting : comparison.settings) {
    Row& row = rows.emplace_back(Row{setting.key});
    for (const std::string& value : setting.values) row.push_back(printable(value));
  }
  return text + "\nsettings that differ\n" + format_blocks(rows, width);
}

std::string format_json(const Comparison& comparison) {
  Json json = {{"runs", Json::array()}, {"differing_settings", Json::object()}};
  for (const RunRecord& run : comparison.runs) {
    Json entry = Json::parse(report::to_json(run.result));
    entry["name"] = run.name;
    entry["data_sha256"] = run.data_sha256;
    json["runs"].push_back(std::move(entry));
  }
  for (const DifferingSetting& setting : comparison.settings) {
    json["differing_settings"][setting.key] = setting.values;
  }
  json["groups"] = Json::array();
  for (const SeedGroup& group : comparison.groups) {
    Json entry = {{"method", comparison.runs[group.runs.front()].result.method},
                  {"runs", Json::array()},
                  {"seeds", Json::array()},
                  {"test", Json::object()}};
    for (const std::size_t run : group.runs) {
      entry["runs"].push_back(comparison.runs[run].name);
      entry["seeds"].push_back(comparison.runs[run].result.seed);
    }
    for (const auto& [name, spread] : group.test) {
      entry["test"][name] = {{"mean", spread.mean}, {"std", spread.deviation}};
    }
    json["groups"].push_back(std::move(entry));
  }
  json["warnings"] = comparison.warnings;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string format_csv(const Runs& runs) {
  const auto valid = all_metric_names(runs, &RunResult::valid);
  const auto test = all_metric_names(runs, &RunResult::test);
  std::string text = "run,method,data,seed,clients,users,items,rounds,best_round";
  for (const std::string& name : valid) text += ",valid_" + name;
  for (const std::string& name : test) text += ",test_" + name;
  text += ",seconds,bytes_up,bytes_down\n";
  const auto number = [](const Metrics& metrics, const std::string& name) {
    return metrics.contains(name) ? fmt::format(",{}", metrics.at(name)) : std::string(",");
  };
  for (const RunRecord& run : runs) {
    const RunResult& r = run.result;
    text += fmt::format("{},{},{},{},{},{},{},{},{}", csv_field(run.name, ','),
                        csv_field(r.method, ','), csv_field(r.data, ','), r.seed, r.num_clients,
                        r.num_users, r.num_items, r.num_rounds, r.best_round);
    for (const std::string& name : valid) text += number(r.valid, name);
    for (const std::string& name : test) text += number(r.test, name);
    text += fmt::format(",{},{},{}\n", total_seconds(r), r.bytes_up, r.bytes_down);
  }
  return text;
}

struct CompareFlags {
  std::vector<std::string> runs;
  bool is_json = false;
  bool is_csv = false;
};

int compare(const CompareFlags& flags) {
  if (flags.runs.empty()) {
    throw ConfigError("run folders are missing, as in 'fedhur compare runs/a runs/b'");
  }
  if (flags.is_json && flags.is_csv) throw ConfigError("--json and --csv exclude each other");
  const Comparison comparison = compare_runs(flags.runs);
  for (const std::string& warning : comparison.warnings) {
    say(fmt::format("fedhur: warning: {}\n", warning));
  }
  if (flags.is_json) {
    print(format_json(comparison));
  } else if (flags.is_csv) {
    print(format_csv(comparison.runs));
  } else {
    print(format_comparison(comparison, static_cast<std::size_t>(terminal_width(STDOUT_FILENO))));
  }
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
