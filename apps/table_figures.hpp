// Tables of the paper as figures for papers: bars, or curves where the rows are numbers.
#pragma once
#include <vector>

#include "apps/figure_script.hpp"
#include "fedhur/study/correlation_table.hpp"
#include "fedhur/study/summary.hpp"

namespace fedhur::apps {
// One figure per data set of which any run is finished, called <table>-<data>.
[[nodiscard]] std::vector<Figure> draw_table(const study::Summary& summary, FigureFormat format);
// Likewise, from what the table of correlations is made of.
[[nodiscard]] std::vector<Figure> draw_correlations(
    const std::vector<study::CorrelationCell>& cells, const study::ReproductionConfig& config,
    FigureFormat format);
}  // namespace fedhur::apps
