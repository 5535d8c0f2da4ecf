#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fedhur/study/conflicts.hpp"

namespace fedhur::study {
namespace {
using report::as_literal;

// In pixels of a screen.
constexpr double kConflictsWidth = 860;
constexpr double kConflictsHeight = 440;
constexpr double kCurvesTop = 40;
constexpr double kCurvesBottom = 130;  // label and key
constexpr double kCurvesLeft = 88;

// What there is to draw of a data set.
struct Drawing {
  std::string data;
  std::vector<const ConflictLine*> lines;
  const ConflictStudy* study;

  [[nodiscard]] std::optional<double> place(const ConflictLine& line, std::size_t panel) const;
};

struct Curves {
  const char* label;                            // of the axis
  std::optional<double> ConflictScene::*place;  // of a scene on it
  double last;                                  // of all places
};
constexpr std::array<Curves, 2> kPanels = {
    Curves{"share of the clients in conflict, all groups", &ConflictScene::share, 0.5},
    Curves{"groups that half of the clients see permuted", &ConflictScene::groups, 10}};

std::optional<double> Drawing::place(const ConflictLine& line, std::size_t panel) const {
  return study->scenes[line.scene].*kPanels.at(panel).place;
}

bool is_shown(const ConflictLine& line) {
  return conflict_methods()[line.method].is_drawn && !line.seeds.empty() &&
         std::isfinite(evaluate::spread_of(line.ndcg).mean);
}

// A block of data per method: place and mean.
std::string curve_data(const Drawing& drawing, std::size_t panel) {
  std::string script;
  for (std::size_t method = 0; method < conflict_methods().size(); ++method) {
    std::vector<std::pair<double, double>> points;
    for (const ConflictLine* line : drawing.lines) {
      const auto place = drawing.place(*line, panel);
      if (line->method != method || !place) continue;
      points.emplace_back(*place, evaluate::spread_of(line->ndcg).mean);
    }
    if (points.empty()) continue;
    std::ranges::sort(points);
    script += fmt::format("$panel{}_{} << EOD\n", panel, method);
    for (const auto& [place, mean] : points) script += fmt::format("{} {}\n", place, mean);
    script += "EOD\n";
  }
  return script;
}

// Dashed where there are no relations, or the same for all targets. A control has the colour of
// what it controls, which comes before it.
struct Style {
  std::size_t method;
  std::size_t point;  // gnuplot's number of its shape
  int dash;
  const char* color;
};
std::vector<Style> styles() {
  std::vector<Style> all;
  std::size_t num_colors = 0;
  for (std::size_t method = 0; method < conflict_methods().size(); ++method) {
    if (!conflict_methods()[method].is_drawn) continue;
    const bool is_control = !all.empty() && conflict_methods()[all.back().method].control == method;
    all.push_back({method, all.size() + 4, conflict_methods()[method].row.is_proposal ? 1 : 2,
                   is_control ? all.back().color : report::color(num_colors++)});
  }
  return all;
}

std::string plot_curves(const Drawing& drawing, std::size_t panel) {
  std::vector<std::string> plots;
  for (const Style& style : styles()) {
    const bool has_points = std::ranges::any_of(drawing.lines, [&](const ConflictLine* line) {
      return line->method == style.method && drawing.place(*line, panel).has_value();
    });
    if (!has_points) continue;
    plots.push_back(
        fmt::format("$panel{}_{} using 1:2 with linespoints lw 2 pt {} ps 0.7 dt {} lc rgb '{}'",
                    panel, style.method, style.point, style.dash, style.color));
  }
  return plots.empty() ? "" : fmt::format("plot {}\n", fmt::join(plots, ", "));
}

// Below both panels, in three columns. Not as gnuplot's key, which keeps to the width of a panel.
std::string curve_key() {
  constexpr double kColumn = 297;
  constexpr double kLeft = 6;
  constexpr double kLine = 20;
  std::string script;
  std::size_t number = 0;
  for (const Style& style : styles()) {
    const double left = (kLeft + kColumn * static_cast<double>(number % 3)) / kConflictsWidth;
    const double up =
        (kLine * (2.6 - static_cast<double>(number / 3))) / kConflictsHeight + 8 / kConflictsHeight;
    ++number;
    const double right = left + 36 / kConflictsWidth;
    script += fmt::format(
        "set arrow {} from screen {},{} to screen {},{} nohead lw 2 dt {} lc rgb '{}'\n"
        "set label {} {} at screen {},{} left offset 3,-0.1 point pt {} ps 0.7 lc rgb '{}'\n",
        number, left, up, right, up, style.dash, style.color, number + 1,
        as_literal(conflict_methods()[style.method].row.label), (left + right) / 2, up, style.point,
        style.color);
  }
  return script;
}

std::string draw_panels(const Drawing& drawing, report::FigureFormat format) {
  double lowest = INFINITY;
  double highest = -INFINITY;
  std::size_t most_seeds = 0;
  for (const ConflictLine* line : drawing.lines) {
    const double mean = evaluate::spread_of(line->ndcg).mean;
    lowest = std::min(lowest, mean);
    highest = std::max(highest, mean);
    most_seeds = std::max(most_seeds, line->seeds.size());
  }
  std::string script =
      report::begin_figure(format, static_cast<int>(kConflictsWidth),
                           static_cast<int>(kConflictsHeight)) +
      fmt::format(
          "set label 1 {} at screen 0.5,{} center\nset ylabel 'NDCG@10'\n"
          "set tics scale 0.5 textcolor rgb '#222222'\nunset key\n"
          "set multiplot layout 1,2 margins screen {},{},{},{} spacing screen {}\n",
          as_literal(most_seeds > 1
                         ? fmt::format("{}, mean over {} seeds", drawing.data, most_seeds)
                         : fmt::format("{}, one seed", drawing.data)),
          1.0 - 0.45 * kCurvesTop / kConflictsHeight, kCurvesLeft / kConflictsWidth,
          1.0 - 16 / kConflictsWidth, kCurvesBottom / kConflictsHeight,
          1.0 - kCurvesTop / kConflictsHeight, kCurvesLeft / kConflictsWidth) +
      curve_key() + report::set_axis('y', report::scale_around(lowest, highest, 6));
  for (std::size_t panel = 0; panel < kPanels.size(); ++panel) {
    if (panel > 0) script += "unset label\nunset arrow\n";
    script += fmt::format("set xrange [{}:{}]\n", -0.04 * kPanels.at(panel).last,
                          1.04 * kPanels.at(panel).last);
    script += fmt::format("set xlabel {}\n", as_literal(kPanels.at(panel).label));
    script += curve_data(drawing, panel) + plot_curves(drawing, panel);
  }
  return script + "unset multiplot\n";
}
}  // namespace

std::vector<report::Figure> draw_conflicts(const ConflictSummary& summary,
                                           report::FigureFormat format) {
  std::vector<report::Figure> figures;
  for (std::size_t data = 0; data < summary.data.size(); ++data) {
    Drawing drawing{.data = summary.data[data].name, .lines = {}, .study = summary.study};
    for (const ConflictLine& line : summary.lines) {
      const bool has_place = drawing.place(line, 0) || drawing.place(line, 1);
      if (line.data == data && has_place && is_shown(line)) drawing.lines.push_back(&line);
    }
    if (drawing.lines.empty()) continue;
    figures.push_back({.name = summary.study->name + "-" + report::plain(drawing.data),
                       .script = draw_panels(drawing, format)});
  }
  return figures;
}
}  // namespace fedhur::study
