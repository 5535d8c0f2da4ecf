#include "fedhur/study/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fedhur/report/report_model.hpp"

namespace fedhur::study {
using evaluate::Spread;
using report::RunResult;
namespace {
using Json = nlohmann::ordered_json;
constexpr const char* kDeciding = "ndcg@10";  // what tests are about

Column metric_column(const std::string& name) {
  return {name, evaluate::metric_label(name), 4,
          [name](const RunResult& result) { return report::value_or_nan(result.test, name); }};
}

double phase_per_round(const RunResult& result, const std::string& phase) {
  const auto found = result.seconds.find(phase);
  const double seconds = found == result.seconds.end() ? 0.0 : found->second;
  return seconds / static_cast<double>(std::max<Round>(1, result.num_rounds));
}

// Mean over the seeds that both rows have.
std::optional<evaluate::PairedTest> test_rows(const RowSummary& row, const RowSummary& rival) {
  std::vector<double> own;
  std::vector<double> other;
  for (std::size_t i = 0; i < row.seeds.size(); ++i) {
    const auto at = std::ranges::find(rival.seeds, row.seeds[i]);
    if (at == rival.seeds.end()) continue;
    own.push_back(row.values.at(kDeciding)[i]);
    other.push_back(rival.values.at(kDeciding)[static_cast<std::size_t>(at - rival.seeds.begin())]);
  }
  if (own.empty()) return std::nullopt;
  return evaluate::paired_test(own, other);
}

void test_against_best_rival(const PaperTable& table, std::vector<RowSummary>& rows) {
  const auto mean = [](const RowSummary& row) {
    return evaluate::spread_of(row.values.at(kDeciding)).mean;
  };
  RowSummary* best = nullptr;
  for (RowSummary& row : rows) {
    if (table.rows[row.row].is_proposal || row.seeds.empty()) continue;
    if (best == nullptr || mean(row) > mean(*best)) best = &row;
  }
  if (best == nullptr) return;
  best->is_best_rival = true;
  for (RowSummary& row : rows) {
    if (&row != best && !row.seeds.empty()) row.test = test_rows(row, *best);
  }
}

bool has_quality(const Summary& summary) {
  return std::ranges::any_of(summary.columns,
                             [](const Column& column) { return column.name == kDeciding; });
}

std::string format_published(const Summary& summary, const DataSummary& data,
                             const RowSummary& row) {
  std::vector<std::string> parts;
  bool is_known = false;
  for (const Column& column : summary.columns) {
    const auto value = published(summary.table->name, summary.table->rows[row.row].label,
                                 data.data.name, column.name);
    is_known = is_known || value.has_value();
    parts.push_back(value ? fmt::format("{:.{}f}", *value, column.digits) : "-");
  }
  while (!parts.empty() && parts.back() == "-") parts.pop_back();
  return is_known ? fmt::format("{}", fmt::join(parts, " / ")) : "-";
}

bool has_published(const Summary& summary, const DataSummary& data) {
  return std::ranges::any_of(data.rows, [&](const RowSummary& row) {
    return format_published(summary, data, row) != "-";
  });
}

std::string format_rivalry(const RowSummary& row) {
  if (row.is_best_rival) return "(best rival)";
  return row.test ? format_test(*row.test) : "-";
}

std::string data_markdown(const Summary& summary, const DataSummary& data) {
  std::string text = fmt::format("## {}\n\n|", data.data.name);
  for (const Column& column : summary.columns) text += fmt::format(" | {}", column.heading);
  text += " | paper |";
  if (has_quality(summary)) text += " NDCG against the best rival |";
  text += " seeds |\n| ---";
  for (std::size_t i = 0; i < summary.columns.size() + 2; ++i) text += " | ---";
  text += has_quality(summary) ? " | --- |\n" : " |\n";
  for (const RowSummary& row : data.rows) {
    text += fmt::format("| {}", summary.table->rows[row.row].label);
    for (const Column& column : summary.columns) {
      text += " | " + (row.seeds.empty() ? std::string("-") : format_spread(row, column));
    }
    text += " | " + format_published(summary, data, row);
    if (has_quality(summary)) text += " | " + format_rivalry(row);
    text += fmt::format(" | {} |\n", row.seeds.size());
  }
  const std::string note = note_on_published_data(data.data.name);
  if (!note.empty() && has_published(summary, data)) text += fmt::format("\n* {}\n", note);
  for (const std::string& problem : data.problems) text += fmt::format("\n* {}\n", problem);
  return text + "\n";
}
}  // namespace

std::vector<Column> columns_of(const PaperTable& table) {
  if (table.measures_time) {
    constexpr double kMib = 1024.0 * 1024.0;
    return {
        {"mib_up", "MiB up", 3, [](const RunResult& r) { return r.bytes_up / kMib; }},
        {"mib_down", "MiB down", 3, [](const RunResult& r) { return r.bytes_down / kMib; }},
        {"round_seconds", "s per round", 3,
         [](const RunResult& r) { return phase_per_round(r, "total"); }},
        {"fine_tuning_seconds", "s fine-tuning per round", 3,
         [](const RunResult& r) { return phase_per_round(r, "fine_tuning"); }},
        {"rounds", "rounds", 0,
         [](const RunResult& r) { return static_cast<double>(r.num_rounds); }},
        {"seconds", "s in all", 1, [](const RunResult& r) { return r.seconds.at("total"); }},
    };
  }
  return {metric_column("recall@10"),
          metric_column("mrr@10"),
          metric_column(kDeciding),
          {"best_round", "best round", 0,
           [](const RunResult& r) { return static_cast<double>(r.best_round); }}};
}

std::string format_spread(const RowSummary& row, const Column& column) {
  const Spread spread = evaluate::spread_of(row.values.at(column.name));
  std::string text = fmt::format("{:.{}f}", spread.mean, column.digits);
  if (row.seeds.size() > 1) text += fmt::format(" ± {:.{}f}", spread.deviation, column.digits);
  return text;
}

std::string format_test(const evaluate::PairedTest& test) {
  const std::string difference = fmt::format("{:+.4f}", test.difference);
  if (!test.is_decided()) return difference + " (t -, p -)";
  const std::string p = test.p < 0.001 ? std::string("< .001") : fmt::format("{:.3f}", test.p);
  return fmt::format("{} (t {:.1f}, p {})", difference, test.t, p);
}

Summary summarize(const PaperTable& table, const ReproductionConfig& config,
                  const std::vector<Cell>& cells) {
  Summary summary{.table = &table, .columns = columns_of(table), .data = {}};
  for (std::size_t d = 0; d < config.data.size(); ++d) {
    DataSummary data{.data = config.data[d], .rows = {}, .problems = {}};
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      RowSummary row{.row = r, .seeds = {}, .values = {}, .is_best_rival = false, .test = {}};
      for (const Cell& cell : cells) {
        if (cell.row != r || cell.data != d) continue;
        if (cell.outcome.state == experiment::RunState::failed) {
          data.problems.push_back(
              fmt::format("{}, seed {}: {}", table.rows[r].label, cell.seed, cell.outcome.problem));
        }
        if (cell.outcome.state != experiment::RunState::finished) continue;
        row.seeds.push_back(cell.seed);
        for (const Column& column : summary.columns) {
          row.values[column.name].push_back(column.value(cell.outcome.result));
        }
      }
      data.rows.push_back(std::move(row));
    }
    if (has_quality(summary)) test_against_best_rival(table, data.rows);
    summary.data.push_back(std::move(data));
  }
  return summary;
}

std::string to_markdown(const Summary& summary, const std::vector<std::string>& notes) {
  std::string text = fmt::format("# {}\n\n{} Mean ± deviation over seeds.", summary.table->name,
                                 summary.table->title);
  if (has_quality(summary)) {
    text +=
        " Paired t test over seeds against the best rival, a row that neither the paper nor we "
        "propose.";
  }
  text += "\n\n";
  for (const std::string& note : notes) text += fmt::format("* {}\n", note);
  if (!notes.empty()) text += "\n";
  for (const DataSummary& data : summary.data) text += data_markdown(summary, data);
  text.pop_back();
  return text;
}

std::string to_csv(const Summary& summary) {
  std::string text = "table,data,row,metric,mean,deviation,seeds,published,difference,t,p\n";
  const auto optional = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  for (const DataSummary& data : summary.data) {
    for (const RowSummary& row : data.rows) {
      if (row.seeds.empty()) continue;
      const std::string& label = summary.table->rows[row.row].label;
      for (const Column& column : summary.columns) {
        const Spread spread = evaluate::spread_of(row.values.at(column.name));
        text += fmt::format(
            "{},{},\"{}\",{},{},{},{},{}", summary.table->name, data.data.name, label, column.name,
            spread.mean, spread.deviation, row.seeds.size(),
            optional(published(summary.table->name, label, data.data.name, column.name)));
        if (column.name != kDeciding || !row.test) {
          text += ",,,\n";
        } else if (row.test->is_decided()) {
          text += fmt::format(",{},{},{}\n", row.test->difference, row.test->t, row.test->p);
        } else {
          text += fmt::format(",{},,\n", row.test->difference);
        }
      }
    }
  }
  return text;
}

std::string to_json(const Summary& summary, const std::vector<std::string>& notes) {
  Json json = {{"table", summary.table->name}, {"notes", notes}, {"data", Json::array()}};
  for (const DataSummary& data : summary.data) {
    Json rows = Json::array();
    for (const RowSummary& row : data.rows) {
      const Row& planned = summary.table->rows[row.row];
      Json entry = {{"row", planned.label},
                    {"method", planned.method},
                    {"settings", planned.assignments},
                    {"seeds", row.seeds},
                    {"is_best_rival", row.is_best_rival},
                    {"values", row.values}};
      for (const auto& [name, values] : row.values) {
        const Spread spread = evaluate::spread_of(values);
        entry["mean"][name] = spread.mean;
        entry["deviation"][name] = spread.deviation;
        const auto printed = published(summary.table->name, planned.label, data.data.name, name);
        if (printed) entry["published"][name] = *printed;
      }
      if (row.test) {
        entry["test"] = {{"difference", row.test->difference}};
        if (row.test->is_decided()) {
          entry["test"]["t"] = row.test->t;
          entry["test"]["p"] = row.test->p;
        }
      }
      rows.push_back(std::move(entry));
    }
    json["data"].push_back(
        {{"name", data.data.name}, {"rows", std::move(rows)}, {"problems", data.problems}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
}  // namespace fedhur::study
