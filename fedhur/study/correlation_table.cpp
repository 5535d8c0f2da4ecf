#include "fedhur/study/correlation_table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fedhur/base/error.hpp"
#include "fedhur/base/file.hpp"

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
                    {"pearson", one.pearson},
                    {"spearman", one.spearman}});
  }
  return json;
}

std::vector<CorrelationOf> read_correlations(const fs::path& path) {
  try {
    std::vector<CorrelationOf> correlations;
    for (const Json& entry : Json::parse(read_text_file(path))) {
      correlations.push_back({.relation = entry.at("relation"),
                              .part = entry.at("part"),
                              .pearson = entry.at("pearson"),
                              .spearman = entry.at("spearman")});
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
    path += fmt::format("-correlation-{}.json", rounds);
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

std::vector<CorrelationLine> lines_of(const std::vector<CorrelationCell>& cells) {
  std::vector<CorrelationLine> lines;
  std::vector<std::vector<double>> targets;
  for (const CorrelationCell& cell : cells) {
    for (const CorrelationOf& one : cell.correlations) {
      auto line = std::find_if(lines.begin(), lines.end(), [&](const CorrelationLine& known) {
        return known.data == cell.data && known.relation == one.relation && known.part == one.part;
      });
      if (line == lines.end()) {
        lines.push_back({cell.data, one.relation, one.part, {}, {}, {}});
        targets.emplace_back();
        line = std::prev(lines.end());
      }
      line->pearson.push_back(evaluate::spread_of(one.pearson).mean);
      line->spearman.push_back(evaluate::spread_of(one.spearman).mean);
      auto& of_line = targets[static_cast<std::size_t>(line - lines.begin())];
      of_line.insert(of_line.end(), one.pearson.begin(), one.pearson.end());
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    lines[i].pearson_by_target = evaluate::spread_of(targets[i]);
  }
  return lines;
}

std::string format_correlation(const std::vector<double>& values) {
  const Spread spread = evaluate::spread_of(values);
  return values.size() > 1 ? fmt::format("{:+.3f} ± {:.3f}", spread.mean, spread.deviation)
                           : fmt::format("{:+.3f}", spread.mean);
}

std::string to_markdown(const std::vector<CorrelationCell>& cells, const ReproductionConfig& config,
                        const std::vector<std::string>& notes) {
  std::string text =
      "# correlation\n\nCorrelation, over the candidates of a target, between a candidate's score "
      "before aggregation and what it changes when the target gets it as its only candidate (NDCG "
      "over the whole ranking, against no relation at all). Means over targets; mean ± deviation "
      "over seeds.\n\n";
  for (const std::string& note : notes) text += fmt::format("* {}\n", note);
  const auto lines = lines_of(cells);
  for (std::size_t data = 0; data < config.data.size(); ++data) {
    text += fmt::format(
        "\n## {}\n\n| relation | part | Pearson | Spearman | deviation over targets | seeds |\n"
        "| --- | --- | --- | --- | --- | --- |\n",
        config.data[data].name);
    for (const CorrelationLine& line : lines) {
      if (line.data != data) continue;
      text += fmt::format("| {} | {} | {} | {} | {:.3f} | {} |\n", line.relation, line.part,
                          format_correlation(line.pearson), format_correlation(line.spearman),
                          line.pearson_by_target.deviation, line.pearson.size());
    }
  }
  return text;
}

std::string to_csv(const std::vector<CorrelationCell>& cells, const ReproductionConfig& config) {
  std::string text = "data,relation,part,pearson,spearman,seeds\n";
  for (const CorrelationLine& line : lines_of(cells)) {
    text += fmt::format("{},{},{},{},{},{}\n", config.data[line.data].name, line.relation,
                        line.part, evaluate::spread_of(line.pearson).mean,
                        evaluate::spread_of(line.spearman).mean, line.pearson.size());
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
