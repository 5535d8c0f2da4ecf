// Who helps whom, as figures for papers.
#pragma once
#include <vector>

#include "apps/figure_script.hpp"
#include "apps/run_record.hpp"

namespace fedhur::apps {
// A heat map per level, and the weights by size; nothing where the run has no relations. DataError
// if its inside.json is not one.
[[nodiscard]] std::vector<Figure> draw_relations(const RunRecord& run, FigureFormat format);
}  // namespace fedhur::apps
