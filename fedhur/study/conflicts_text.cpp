#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "fedhur/study/conflicts.hpp"
#include "fedhur/study/summary.hpp"

namespace fedhur::study {
namespace {
using Json = nlohmann::ordered_json;

std::string format_shares(const std::vector<double>& shares) {
  std::vector<std::string> texts;
  for (const double share : shares) texts.push_back(fmt::format("{:.2f}", share));
  return fmt::format("{}", fmt::join(texts, " / "));
}

std::string format_quality(const ConflictLine& line) {
  if (line.seeds.empty()) return "-";
  const evaluate::Spread spread = evaluate::spread_of(line.ndcg);
  return line.seeds.size() > 1 ? fmt::format("{:.4f} ± {:.4f}", spread.mean, spread.deviation)
                               : fmt::format("{:.4f}", spread.mean);
}

std::string scene_heading(const ConflictLine& line, const ConflictSummary& summary) {
  return fmt::format(
      "## {}, {}\n\n| | NDCG@10 | against FedCIA | against its control | weights for its own kind "
      "| for itself | seeds |\n| --- | --- | --- | --- | --- | --- | --- |\n",
      summary.data[line.data].name, summary.study->scenes[line.scene].name);
}

std::string table_row(const ConflictLine& line) {
  const auto format = [](const std::optional<evaluate::PairedTest>& test) {
    return test ? format_test(*test) : std::string("-");
  };
  return fmt::format(
      "| {} | {} | {} | {} | {} | {} | {} |\n", conflict_methods()[line.method].row.label,
      format_quality(line), format(line.against_fedcia), format(line.against_control),
      line.weights ? fmt::format("{} ({:.2f})", format_shares(line.weights->own_kind),
                                 line.weights->own_kind_if_equal)
                   : "-",
      line.weights ? format_shares(line.weights->itself) : "-", line.seeds.size());
}

Json to_value(const std::optional<evaluate::PairedTest>& test) {
  if (!test) return nullptr;
  Json json = {{"difference", test->difference}};
  if (test->is_decided()) {
    json["t"] = test->t;
    json["p"] = test->p;
  }
  return json;
}

Json to_value(const std::optional<WeightShares>& weights) {
  if (!weights) return nullptr;
  return {{"own_kind", weights->own_kind},
          {"own_kind_if_equal", weights->own_kind_if_equal},
          {"itself", weights->itself}};
}

std::string csv_test(const std::optional<evaluate::PairedTest>& test) {
  if (!test) return ",,";
  if (!test->is_decided()) return fmt::format("{},,", test->difference);
  return fmt::format("{},{},{}", test->difference, test->t, test->p);
}
}  // namespace

std::string to_markdown(const ConflictSummary& summary, const std::vector<std::string>& notes) {
  std::string text = fmt::format(
      "# {}\n\n{} Mean ± deviation over seeds; paired t tests over seeds. The control of FedHUR "
      "and "
      "of similarity is `common` with the same structure and temperature: one set of weights for "
      "all "
      "targets. Weights by level: the part of what a target gives to others that goes to clients "
      "of "
      "its own kind (in brackets: with equal weights), and what it gives to itself.\n\n",
      summary.study->name, summary.study->title);
  for (const std::string& note : notes) text += fmt::format("* {}\n", note);
  for (const ConflictLine& line : summary.lines) {
    if (line.method == 0) text += "\n" + scene_heading(line, summary);
    text += table_row(line);
  }
  return text;
}

std::string to_csv(const ConflictSummary& summary) {
  std::string text =
      "data,scene,method,ndcg,deviation,seeds,fedcia_difference,fedcia_t,fedcia_p,"
      "control_difference,control_t,control_p,own_kind,own_kind_if_equal,itself\n";
  for (const ConflictLine& line : summary.lines) {
    if (line.seeds.empty()) continue;
    const evaluate::Spread spread = evaluate::spread_of(line.ndcg);
    text += fmt::format(
        "{},\"{}\",\"{}\",{},{},{},{},{},{}\n", summary.data[line.data].name,
        summary.study->scenes[line.scene].name, conflict_methods()[line.method].row.label,
        spread.mean, spread.deviation, line.seeds.size(), csv_test(line.against_fedcia),
        csv_test(line.against_control),
        line.weights
            ? fmt::format("{},{},{}", fmt::join(line.weights->own_kind, " "),
                          line.weights->own_kind_if_equal, fmt::join(line.weights->itself, " "))
            : ",,");
  }
  return text;
}

std::string to_json(const ConflictSummary& summary, const std::vector<std::string>& notes) {
  Json json = {{"table", summary.study->name}, {"notes", notes}, {"lines", Json::array()}};
  for (const ConflictLine& line : summary.lines) {
    const ConflictScene& scene = summary.study->scenes[line.scene];
    const Row& row = conflict_methods()[line.method].row;
    json["lines"].push_back({{"data", summary.data[line.data].name},
                             {"scene", scene.name},
                             {"method", row.label},
                             {"settings", row.assignments},
                             {"scene_settings", scene.assignments},
                             {"seeds", line.seeds},
                             {"ndcg@10", line.ndcg},
                             {"against_fedcia", to_value(line.against_fedcia)},
                             {"against_control", to_value(line.against_control)},
                             {"weights", to_value(line.weights)}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
}  // namespace fedhur::study
