// Figures for papers, as scripts for gnuplot.
#pragma once
#include <vector>

#include "fedhur/report/figure_script.hpp"
#include "fedhur/report/report_model.hpp"

namespace fedhur::report {
// Curves, time, traffic, and for every method that has them relations and weights. ConfigError if
// there is no round yet.
[[nodiscard]] std::vector<Figure> draw_figures(const ReportModel& model, FigureFormat format);
}  // namespace fedhur::report
