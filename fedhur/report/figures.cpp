#include "fedhur/report/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fedhur/base/error.hpp"

namespace fedhur::report {
namespace {
constexpr double kMostDoublings = 3.0;  // colours end at an eighth and at eight equal shares

// Rounds from one tick to the next: whole ones, and not too many.
std::size_t round_step(const ReportModel& model) {
  std::size_t most = 0;
  for (const RunRecord& run : model.runs) most = std::max(most, run.rounds.size());
  std::size_t step = 1;
  for (const std::size_t next : {2, 5, 10, 20, 50, 100}) {
    if (most / step > 8) step = next;
  }
  return step;
}

Figure draw_quality(const ReportModel& model, FigureFormat format) {
  std::string script = begin_figure(format, 860, 340) +
                       fmt::format(
                           "set key bottom right\nset xlabel 'round'\nset xrange [1:*]\nset xtics "
                           "0,{}\nset multiplot layout 1,2\n",
                           round_step(model));
  for (const auto& [part, curves] :
       {std::pair("validation", &model.valid), std::pair("test", &model.test)}) {
    const Curve& curve = curves->at(model.headline);
    std::vector<std::string> plots;
    for (std::size_t g = 0; g < model.groups.size(); ++g) {
      if (curve.series[g].points.empty()) continue;
      const std::string name = fmt::format("${}_{}", part, g);
      script += name + " << EOD\n";
      for (const auto& [round, value] : curve.series[g].points) {
        script += fmt::format("{} {} {} {}\n", round, value.mean, value.mean - value.deviation,
                              value.mean + value.deviation);
      }
      script += "EOD\n";
      plots.push_back(fmt::format(
          "{} using 1:3:4 with filledcurves fs transparent solid 0.15 noborder lc rgb '{}'", name,
          color(g)));
      plots.push_back(fmt::format("{} using 1:2 with lines lw 2 dt {} lc rgb '{}' title {}", name,
                                  g + 1, color(g), as_literal(model.groups[g].label)));
    }
    if (plots.empty()) throw ConfigError("there is no round to draw yet");
    script += fmt::format("set ylabel {}\nplot {}\n", as_literal(part + (" " + curve.label)),
                          fmt::join(plots, ", "));
  }
  return {.name = "quality", .script = script + "unset multiplot\n"};
}

struct Panel {
  const char* title;
  const Parts& parts;
  double unit;
};

// Stacked columns, one per group and panel, a colour per name.
Figure draw_stacks(const char* name, const ReportModel& model, const std::vector<Panel>& panels,
                   FigureFormat format) {
  std::vector<std::string> labels;
  for (const std::size_t g : panels.front().parts.groups) labels.push_back(model.groups[g].label);
  const int width = 260 + 90 * static_cast<int>(labels.size() * panels.size());
  std::string script =
      begin_figure(format, std::max(width, 480), 360) +
      fmt::format(
          "set style data histograms\nset style histogram rowstacked\nset boxwidth 0.6\nset key "
          "outside right top\nset yrange [0:*]\nset xtics {}\nset multiplot layout 1,{}\n",
          tick_labels(labels), panels.size());
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const auto& [title, parts, unit] = panels[p];
    script += fmt::format("$panel{} << EOD\n", p);
    for (std::vector<double> row : parts.values) {
      for (double& value : row) value /= unit;
      script += fmt::format("{}\n", fmt::join(row, " "));
    }
    std::vector<std::string> plots;
    for (std::size_t i = 0; i < parts.names.size(); ++i) {
      plots.push_back(fmt::format("$panel{} using {} lc rgb '{}' title {}", p, i + 1,
                                  color(parts.colors[i]), as_literal(parts.names[i])));
    }
    script +=
        fmt::format("EOD\nset ylabel {}\nplot {}\n", as_literal(title), fmt::join(plots, ", "));
  }
  return {.name = name, .script = script + "unset multiplot\n"};
}

// A heat map per level.
Figure draw_relations(const RelationView& view, FigureFormat format) {
  const std::size_t count = view.levels.size();
  const double width = 120.0 + 300.0 * static_cast<double>(count);
  // The same place for every picture, whether or not the colours are explained beside it.
  std::string script =
      begin_figure(format, static_cast<int>(width), 340) +
      fmt::format(
          "unset grid\nset border 15\nset xrange [-0.5:{0}]\nset yrange [{0}:-0.5]\nunset xtics\n"
          "unset ytics\nset xlabel 'candidate'\nset palette defined (-3 '#2166ac', -1.5 '#92c5de', "
          "0 '#f4f4f2', 1.5 '#f4a582', 3 '#b2182b')\nset cbrange [-3:3]\nset cbtics ('1/8' -3, "
          "'1/4' -2, '1/2' -1, '1' 0, '2' 1, '4' 2, '8' 3)\nset cblabel 'weight in equal shares'\n"
          "set multiplot layout 1,{1} margins {2},{3},0.1,0.9 spacing 0.03\n",
          static_cast<double>(view.levels.front().weights.size()) - 0.5, count, 40.0 / width,
          1.0 - 90.0 / width);
  for (std::size_t level = 0; level < count; ++level) {
    script += fmt::format("$level{} << EOD\n", level);
    for (std::vector<double> row : view.levels[level].weights) {
      for (double& shares : row) {
        shares = shares > 0.0 ? std::clamp(std::log2(shares), -kMostDoublings, kMostDoublings)
                              : -kMostDoublings;
      }
      script += fmt::format("{:.3f}\n", fmt::join(row, " "));
    }
    script += fmt::format(
        "EOD\nset title {}\nset ylabel {}\n{} colorbox\nplot $level{} matrix with image\n",
        as_literal(view.levels[level].label), level == 0 ? "'target'" : "''",
        level + 1 == count ? "set" : "unset", level);
  }
  return {.name = "relations", .script = script + "unset multiplot\n"};
}

// The weights by size.
Figure draw_weights(const RelationView& view, FigureFormat format) {
  std::string script = begin_figure(format, 560, 340) +
                       "set logscale x 2\nset xtics ('1/64' 1./64, '1/16' 1./16, '1/4' 0.25, 1, 4, "
                       "16, 64, 256)\nset xlabel 'weight in equal shares'\nset ylabel 'share "
                       "of pairs, %'\nset key top right\nset yrange [0:*]\n";
  std::vector<std::string> plots;
  for (const LevelView& level : view.levels) {
    script += fmt::format("$level{} << EOD\n", plots.size());
    for (std::size_t bin = 1; bin < std::min(level.shares.size(), view.bins_from.size()); ++bin) {
      // The middle of a bin, of which there are two to a doubling; far-off empty ones are left out.
      const double from = view.bins_from[bin];
      if (level.shares[bin] == 0.0 && (from < 0.1 || from > 10.0)) continue;
      script += fmt::format("{} {}\n", from * std::exp2(0.25), 100.0 * level.shares[bin]);
    }
    script += "EOD\n";
    plots.push_back(fmt::format("$level{} using 1:2 with histeps lw 2 lc rgb '{}' title {}",
                                plots.size(), color(plots.size()), as_literal(level.label)));
  }
  return {.name = "weights", .script = script + fmt::format("plot {}\n", fmt::join(plots, ", "))};
}
}  // namespace

std::vector<Figure> draw_figures(const ReportModel& model, FigureFormat format) {
  constexpr double kMega = 1e6;
  std::vector<Figure> figures = {
      draw_quality(model, format),
      draw_stacks("time", model, {{"seconds per round", model.round_seconds, 1.0}}, format),
      draw_stacks("traffic", model,
                  {{"MB up per client and round", model.bytes_up, kMega},
                   {"MB down per client and round", model.bytes_down, kMega}},
                  format)};
  for (const RelationView& view : model.relations) {
    const std::string suffix =
        model.groups.size() > 1 ? "-" + plain(model.groups[view.group].label) : "";
    for (Figure& figure : std::array{draw_relations(view, format), draw_weights(view, format)}) {
      figures.push_back({.name = figure.name + suffix, .script = std::move(figure.script)});
    }
  }
  return figures;
}
}  // namespace fedhur::report
