#include "fedhur/report/result_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "fedhur/base/text.hpp"
#include "fedhur/report/json_text.hpp"

namespace fedhur::report {
namespace {
using Row = std::vector<std::string>;

std::string seconds_text(const std::map<std::string, double>& seconds) {
  std::vector<std::pair<double, std::string>> phases;
  for (const auto& [phase, value] : seconds) {
    if (phase != "total" && value > 0.0) phases.emplace_back(value, phase);
  }
  std::ranges::sort(phases, std::greater<>());
  std::vector<std::string> parts;
  for (const auto& [value, phase] : phases) {
    parts.push_back(fmt::format("{} {:.1f} s", words(phase), value));
  }
  const std::string detail = parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
  return fmt::format("{:.1f} s{}", seconds.contains("total") ? seconds.at("total") : 0.0, detail);
}

double total_seconds(const RunResult& result) {
  const auto total = result.seconds.find("total");
  return total == result.seconds.end() ? 0.0 : total->second;
}

std::vector<std::string> names_of(const ReportModel& model, Metrics RunResult::*part) {
  std::vector<Metrics> metrics;
  for (const RunRecord& run : model.runs) metrics.push_back(run.result.*part);
  return evaluate::metric_names(metrics);
}

// A row of the whole table, with a space where a metric may have its mark.
Row row_of(const ReportModel& model, const std::string& label,
           const std::function<std::string(const RunResult&)>& value) {
  Row row = {label};
  for (const RunRecord& run : model.runs) row.push_back(value(run.result) + " ");
  return row;
}

std::vector<Row> metric_rows(const ReportModel& model, const std::string& label,
                             Metrics RunResult::*part) {
  std::vector<Row> rows;
  for (const std::string& name : names_of(model, part)) {
    Row& row = rows.emplace_back(row_of(model, label + name, [&](const RunResult& result) {
      return format_metric(result.*part, name);
    }));
    std::vector<double> values;
    for (const RunRecord& run : model.runs) values.push_back(value_or_nan(run.result.*part, name));
    const std::vector<bool> is_best = find_best(name, values);
    for (std::size_t i = 0; i < is_best.size(); ++i) row[i + 1].back() = is_best[i] ? '*' : ' ';
  }
  return rows;
}

std::vector<Row> table_of(const ReportModel& model) {
  std::vector<Row> rows = {{""}};
  for (const RunRecord& run : model.runs) rows[0].push_back(printable(run.name) + " ");
  const auto add = [&](const char* label, const auto& value) {
    rows.push_back(row_of(model, label, value));
  };
  add("method", [](const RunResult& r) { return r.method; });
  add("data", [](const RunResult& r) { return printable(r.data); });
  add("seed", [](const RunResult& r) { return fmt::format("{}", r.seed); });
  add("clients", [](const RunResult& r) { return fmt::format("{}", r.num_clients); });
  add("rounds", [](const RunResult& r) { return fmt::format("{}", r.num_rounds); });
  add("best round", [](const RunResult& r) { return fmt::format("{}", r.best_round); });
  std::ranges::move(metric_rows(model, "test ", &RunResult::test), std::back_inserter(rows));
  std::ranges::move(metric_rows(model, "valid ", &RunResult::valid), std::back_inserter(rows));
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

struct SeedMeans {
  const RunGroup& group;
  std::vector<std::pair<std::string, Spread>> test;  // by metric
};
// Of the groups of two seeds or more.
std::vector<SeedMeans> average_over_seeds(const ReportModel& model) {
  std::vector<SeedMeans> all;
  for (const RunGroup& group : model.groups) {
    if (std::set(group.seeds.begin(), group.seeds.end()).size() < 2) continue;
    SeedMeans& means = all.emplace_back(SeedMeans{group, {}});
    const Metrics& first = model.runs[group.runs.front()].result.test;
    for (const std::string& name : evaluate::metric_names({first})) {
      std::vector<double> values;
      for (const std::size_t i : group.runs) values.push_back(model.runs[i].result.test.at(name));
      means.test.emplace_back(name, evaluate::spread_of(values));
    }
  }
  return all;
}

std::string format_means(const ReportModel& model) {
  std::string text;
  for (const auto& [group, test] : average_over_seeds(model)) {
    std::vector<std::string> parts;
    for (const auto& [name, spread] : test) {
      parts.push_back(fmt::format("{} {:.4f} +- {:.4f}", name, spread.mean, spread.deviation));
    }
    text += fmt::format("{}{} over seeds {}: test {}\n", text.empty() ? "\n" : "", group.label,
                        fmt::join(group.seeds, ", "), fmt::join(parts, ", "));
  }
  return text;
}
}  // namespace

std::string format_metric(const Metrics& metrics, const std::string& name) {
  const double value = value_or_nan(metrics, name);
  return std::isfinite(value) ? fmt::format("{:.4f}", value) : "-";
}

std::string format_result(const RunResult& result) {
  std::vector<Row> rows = {{""}, {padded("valid", 11, Align::left)}, {"test"}};  // as wide as below
  for (const std::string& name : evaluate::metric_names({result.valid, result.test})) {
    rows[0].push_back(name);
    rows[1].push_back(format_metric(result.valid, name));
    rows[2].push_back(format_metric(result.test, name));
  }
  return fmt::format(
      "{} on {}: {} users, {} items, {} clients, seed {}\n\n{}\n"
      "best round   {} of {}\ntime         {}\n"
      "traffic      {} up, {} down per client and round\n"
      "peak memory  {:.0f} MB\nrun folder: {}\n",
      result.method, printable(result.data), format_count(result.num_users),
      format_count(result.num_items), format_count(result.num_clients), result.seed,
      format_table(rows, {Align::left}), result.best_round, result.num_rounds,
      seconds_text(result.seconds), format_bytes(result.bytes_up), format_bytes(result.bytes_down),
      result.peak_rss_mb, result.run);
}

std::string format_comparison(const ReportModel& model, std::size_t width) {
  std::string text = format_blocks(table_of(model), width);
  text += "\nMB are per client and round";
  text += model.runs.size() > 1 ? "; * marks the best\n" : "\n";
  text += format_means(model);
  if (model.differences.empty()) return text;
  std::vector<Row> rows = {{""}};
  for (const RunRecord& run : model.runs) rows[0].push_back(printable(run.name));
  for (const DifferingSetting& setting : model.differences) {
    Row& row = rows.emplace_back(Row{setting.key});
    std::ranges::transform(setting.values, std::back_inserter(row), printable);
  }
  return text + "\nsettings that differ\n" + format_blocks(rows, width);
}

std::string comparison_json(const ReportModel& model) {
  Json json = {{"runs", Json::array()},
               {"differing_settings", Json::object()},
               {"groups", Json::array()},
               {"warnings", model.warnings}};
  for (const RunRecord& run : model.runs) {
    Json& entry = json["runs"].emplace_back(describe(run.result));
    entry["name"] = run.name;
    entry["data_sha256"] = run.origin.data_sha256;
  }
  for (const DifferingSetting& setting : model.differences) {
    json["differing_settings"][setting.key] = setting.values;
  }
  for (const auto& [group, test] : average_over_seeds(model)) {
    Json names = Json::array();
    for (const std::size_t run : group.runs) names.push_back(model.runs[run].name);
    Json& entry =
        json["groups"].emplace_back(Json{{"method", model.runs[group.runs.front()].result.method},
                                         {"runs", std::move(names)},
                                         {"seeds", group.seeds},
                                         {"test", Json::object()}});
    for (const auto& [name, spread] : test) {
      entry["test"][name] = {{"mean", spread.mean}, {"std", spread.deviation}};
    }
  }
  return to_line(json) + "\n";
}

std::string comparison_csv(const ReportModel& model) {
  const auto valid = names_of(model, &RunResult::valid);
  const auto test = names_of(model, &RunResult::test);
  std::string text = "run,method,data,seed,clients,users,items,rounds,best_round";
  for (const std::string& name : valid) text += ",valid_" + name;
  for (const std::string& name : test) text += ",test_" + name;
  text += ",seconds,bytes_up,bytes_down\n";
  const auto number = [](const Metrics& metrics, const std::string& name) {
    return metrics.contains(name) ? fmt::format(",{}", metrics.at(name)) : std::string(",");
  };
  for (const RunRecord& run : model.runs) {
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
}  // namespace fedhur::report
