// Figures for papers, as scripts for gnuplot.
#pragma once
#include <vector>

#include "apps/figure_script.hpp"
#include "apps/run_record.hpp"

namespace fedhur::apps {
// Curves, time, traffic, and for every method that has them relations and weights. DataError if an
// inside.json is not one.
[[nodiscard]] std::vector<Figure> draw_figures(const std::vector<RunRecord>& runs,
                                               FigureFormat format);
}  // namespace fedhur::apps
