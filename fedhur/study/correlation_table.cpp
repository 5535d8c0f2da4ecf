#include "fedhur/study/correlation_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/evaluate/metrics.hpp"

namespace fedhur::study {
namespace fs = std::filesystem;
namespace {
using Json = nlohmann::ordered_json;
using evaluate::Spread;

Json to_value(const std::vector<CorrelationOf>& correlations) {
  Json json = Json::array();
  for (const CorrelationOf& one : correlations) {
    json.push_back({{"relation", one.relation},
                    {"part", one.part},
                    {"metric", one.metric},
                    {"pearson", one.pearson},
                    {"spearman", one.spearman},
                    {"candidate_pearson", one.candidate_pearson},
                    {"candidate_spearman", one.candidate_spearman}});
  }
  return json;
}

std::vector<CorrelationOf> read_correlations(const fs::path& path) {
  try {
    std::vector<CorrelationOf> correlations;
    for (const Json& entry : Json::parse(read_text_file(path))) {
      correlations.push_back({.relation = entry.at("relation"),
                              .part = entry.at("part"),
                              .metric = entry.at("metric"),
                              .pearson = entry.at("pearson"),
                              .spearman = entry.at("spearman"),
                              .candidate_pearson = entry.at("candidate_pearson"),
                              .candidate_spearman = entry.at("candidate_spearman")});
    }
    return correlations;
  } catch (const nlohmann::json::exception& error) {
    throw DataError(
        fmt::format("{}: {}; remove it to have it computed again", path.string(), error.what()));
  }
}
}  // namespace

std::vector<CorrelationCell> run_correlations(
    const ReproductionConfig& config, Round rounds,
    const std::function<void(const CorrelationCell&)>& on_end,
    const std::function<bool()>& should_stop) {
  // The runs of FedHUR as it is, whose folders are not used: only their names and settings.
  const PaperTable table = {"correlation", "", {proposal()}};
  std::vector<CorrelationCell> cells;
  for (const Cell& planned : plan_cells(table, config)) {
    CorrelationCell cell{.data = planned.data, .seed = planned.seed, .correlations = {}};
    fs::path path = planned.run.folder;
    path += fmt::format("-correlations-{}.json", rounds);
    if (fs::exists(path)) {
      cell.correlations = read_correlations(path);
    } else if (!should_stop || !should_stop()) {
      cell.correlations = correlate(planned.run.settings, rounds, should_stop);
      if (!cell.correlations.empty()) {
        make_folder(path.parent_path());
        write_file_atomically(path, to_value(cell.correlations).dump() + "\n");
      }
    }
    if (on_end && !cell.correlations.empty()) on_end(cell);
    cells.push_back(std::move(cell));
  }
  return cells;
}

std::vector<CorrelationLine> lines_of(const std::vector<CorrelationCell>& cells, Reading reading) {
  std::vector<CorrelationLine> lines;
  for (const CorrelationCell& cell : cells) {
    for (const CorrelationOf& one : cell.correlations) {
      auto line = std::ranges::find_if(lines, [&](const CorrelationLine& known) {
        return known.data == cell.data && known.relation == one.relation &&
               known.part == one.part && known.metric == one.metric;
      });
      if (line == lines.end()) {
        lines.push_back({cell.data, one.relation, one.part, one.metric, {}, {}});
        line = std::prev(lines.end());
      }
      const bool is_mean = reading == Reading::targets;
      line->pearson.push_back(is_mean ? evaluate::spread_of(one.pearson).mean
                                      : one.candidate_pearson);
      line->spearman.push_back(is_mean ? evaluate::spread_of(one.spearman).mean
                                       : one.candidate_spearman);
    }
  }
  return lines;
}

std::string format_correlation(const std::vector<double>& values) {
  const Spread spread = evaluate::spread_of(values);
  return values.size() > 1 ? fmt::format("{:+.3f} ± {:.3f}", spread.mean, spread.deviation)
                           : fmt::format("{:+.3f}", spread.mean);
}

namespace {
std::string format_metric(const std::string& metric) {
  return metric == "ndcg" ? "NDCG, whole ranking" : evaluate::metric_label(metric);
}

// The paper's two numbers: similarity, utility.
std::string format_printed(const ReproductionConfig& config, const CorrelationLine& line,
                           double PublishedCorrelation::*kind) {
  const std::string& data = config.data[line.data].name;
  const auto similarity = published_correlation(data, "similarity", line.part, line.metric);
  const auto utility = published_correlation(data, "utility", line.part, line.metric);
  if (!similarity || !utility) return "-";
  return fmt::format("{:+.4f}, {:+.4f}", (*similarity).*kind, (*utility).*kind);
}

// A row per part and metric: both relations side by side, as the paper has them.
std::string reading_markdown(const std::vector<CorrelationLine>& lines, std::size_t data,
                             const ReproductionConfig& config) {
  std::string text =
      "| part | metric | Pearson: similarity | utility | the paper's two | Spearman: similarity | "
      "utility | the paper's two |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const CorrelationLine& line : lines) {
    if (line.data != data || line.relation != "similarity") continue;
    const auto utility = std::ranges::find_if(lines, [&](const CorrelationLine& other) {
      return other.data == data && other.relation == "utility" && other.part == line.part &&
             other.metric == line.metric;
    });
    if (utility == lines.end()) continue;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", line.part,
                        format_metric(line.metric), format_correlation(line.pearson),
                        format_correlation(utility->pearson),
                        format_printed(config, line, &PublishedCorrelation::pearson),
                        format_correlation(line.spearman), format_correlation(utility->spearman),
                        format_printed(config, line, &PublishedCorrelation::spearman));
  }
  return text;
}
}  // namespace

std::string to_markdown(const std::vector<CorrelationCell>& cells, const ReproductionConfig& config,
                        const std::vector<std::string>& notes) {
  std::string text =
      "# correlation\n\nCorrelation between a candidate's score before aggregation and what it "
      "changes when a target gets it as its only candidate (against no relation at all), in two "
      "readings: of each target over its candidates, and of the candidates' means over all "
      "targets. "
      "Mean ± deviation over seeds. The paper does not say which reading is its own.\n\n";
  for (const std::string& note : notes) text += fmt::format("* {}\n", note);
  for (std::size_t data = 0; data < config.data.size(); ++data) {
    text += fmt::format("\n## {}\n\nOf each target over its candidates, mean over targets:\n\n",
                        config.data[data].name);
    text += reading_markdown(lines_of(cells, Reading::targets), data, config);
    text += "\nOver candidates, each with its means over all targets:\n\n";
    text += reading_markdown(lines_of(cells, Reading::candidates), data, config);
    const std::string note = note_on_published_data(config.data[data].name);
    if (!note.empty()) text += fmt::format("\n* {}\n", note);
  }
  return text;
}

std::string to_csv(const std::vector<CorrelationCell>& cells, const ReproductionConfig& config) {
  std::string text =
      "data,reading,relation,part,metric,pearson,spearman,seeds,published_pearson,"
      "published_spearman\n";
  for (const Reading reading : {Reading::targets, Reading::candidates}) {
    for (const CorrelationLine& line : lines_of(cells, reading)) {
      const std::string& data = config.data[line.data].name;
      const auto printed = published_correlation(data, line.relation, line.part, line.metric);
      text +=
          fmt::format("{},{},{},{},{},{},{},{},{}\n", data, name_of(reading), line.relation,
                      line.part, line.metric, evaluate::spread_of(line.pearson).mean,
                      evaluate::spread_of(line.spearman).mean, line.pearson.size(),
                      printed ? fmt::format("{},{}", printed->pearson, printed->spearman) : ",");
    }
  }
  return text;
}

std::string to_json(const std::vector<CorrelationCell>& cells, const ReproductionConfig& config,
                    const std::vector<std::string>& notes) {
  Json json = {{"table", "correlation"}, {"notes", notes}, {"cells", Json::array()}};
  for (const CorrelationCell& cell : cells) {
    json["cells"].push_back({{"data", config.data[cell.data].name},
                             {"seed", cell.seed},
                             {"correlations", to_value(cell.correlations)}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
}  // namespace fedhur::study
