#include "apps/relation_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fedhur/base/error.hpp"

namespace fedhur::apps {
namespace {
using Json = nlohmann::ordered_json;
constexpr double kMostDoublings = 3.0;  // colours end at an eighth and at eight equal shares

std::string level_name(std::size_t level, std::size_t count) {
  return count > 1 ? fmt::format("level {}", level + 1) : std::string("all items");
}

Figure draw_heat_maps(const Json& levels, FigureFormat format) {
  const std::size_t count = levels.size();
  const double last = static_cast<double>(levels.at(0).at("weights").size()) - 0.5;
  std::string script = begin_figure(format, 120 + 300 * static_cast<int>(count), 340);
  script += fmt::format(
      "unset grid\nset border 15\nset xrange [-0.5:{}]\nset yrange [{}:-0.5]\nunset xtics\nunset "
      "ytics\nset xlabel 'candidate'\n",
      last, last);
  script +=
      "set palette defined (-3 '#2166ac', -1.5 '#92c5de', 0 '#f4f4f2', 1.5 '#f4a582', 3 "
      "'#b2182b')\n"
      "set cbrange [-3:3]\nset cbtics ('1/8' -3, '1/4' -2, '1/2' -1, '1' 0, '2' 1, '4' 2, '8' 3)\n"
      "set cblabel 'weight in equal shares'\n";
  // The same place for every picture, whether or not the colours are explained beside it.
  script += fmt::format("set multiplot layout 1,{} margins {},{},0.1,0.9 spacing 0.03\n", count,
                        40.0 / (120.0 + 300.0 * static_cast<double>(count)),
                        1.0 - 90.0 / (120.0 + 300.0 * static_cast<double>(count)));
  for (std::size_t level = 0; level < count; ++level) {
    script += fmt::format("$level{} << EOD\n", level);
    for (const Json& row : levels[level].at("weights")) {
      std::vector<double> doublings;
      for (const Json& weight : row) {
        const double shares = weight.get<double>();
        doublings.push_back(shares > 0.0
                                ? std::clamp(std::log2(shares), -kMostDoublings, kMostDoublings)
                                : -kMostDoublings);
      }
      script += fmt::format("{:.3f}\n", fmt::join(doublings, " "));
    }
    script += fmt::format(
        "EOD\nset title {}\nset ylabel {}\n{} colorbox\nplot $level{} matrix with image\n",
        as_literal(level_name(level, count)), level == 0 ? "'target'" : "''",
        level + 1 == count ? "set" : "unset", level);
  }
  return {.name = "relations", .script = script + "unset multiplot\n"};
}

Figure draw_weights(const Json& levels, const std::vector<double>& edges, FigureFormat format) {
  std::string script = begin_figure(format, 560, 340) +
                       "set logscale x 2\nset xtics ('1/64' 1./64, '1/16' 1./16, '1/4' 0.25, 1, 4, "
                       "16, 64, 256)\nset xlabel 'weight in equal shares'\nset ylabel 'share "
                       "of pairs, %'\nset key top right\nset yrange [0:*]\n";
  std::vector<std::string> plots;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const auto counts = levels[level].at("counts").get<std::vector<double>>();
    double total = 0.0;
    for (const double count : counts) total += count;
    script += fmt::format("$level{} << EOD\n", level);
    for (std::size_t bin = 1; bin < std::min(counts.size(), edges.size()); ++bin) {
      // The middle of a bin, of which there are two to a doubling; far-off empty ones are left out.
      if (counts[bin] == 0.0 && (edges[bin] < 0.1 || edges[bin] > 10.0)) continue;
      script += fmt::format("{} {}\n", edges[bin] * std::exp2(0.25),
                            total > 0.0 ? 100.0 * counts[bin] / total : 0.0);
    }
    script += "EOD\n";
    plots.push_back(fmt::format("$level{} using 1:2 with histeps lw 2 lc rgb '{}' title {}", level,
                                color(level), as_literal(level_name(level, levels.size()))));
  }
  return {.name = "weights", .script = script + fmt::format("plot {}\n", fmt::join(plots, ", "))};
}
}  // namespace

std::vector<Figure> draw_relations(const RunRecord& run, FigureFormat format) {
  if (run.inside.empty()) return {};
  try {
    const Json inside = Json::parse(run.inside);
    if (!inside.contains("relations")) return {};
    const Json& relations = inside.at("relations");
    const Json& levels = relations.at("levels");
    return {draw_heat_maps(levels, format),
            draw_weights(levels, relations.at("bins_from").get<std::vector<double>>(), format)};
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("inside.json of {}: {}", run.name, error.what()));
  }
}
}  // namespace fedhur::apps
