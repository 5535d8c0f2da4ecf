// Tables of the paper as figures for papers, and the groups of an item.
#pragma once
#include <vector>

#include "fedhur/report/figure_script.hpp"
#include "fedhur/study/correlation_table.hpp"
#include "fedhur/study/item_relations.hpp"
#include "fedhur/study/summary.hpp"

namespace fedhur::study {
// Of curves: metrics as they are, or each scaled to [0, 1] on its own, from its lowest mean to its
// highest.
enum class CurveScale : std::uint8_t { measured, unit };

// Bars, or curves where the rows are numbers: a figure per data set of which any run is finished,
// called <table>-<data>, or <table>-<data>-scaled.
[[nodiscard]] std::vector<report::Figure> draw_table(const Summary& summary,
                                                     report::FigureFormat format,
                                                     CurveScale scale = CurveScale::measured);
// Likewise, from what the table of correlations is made of.
[[nodiscard]] std::vector<report::Figure> draw_correlations(
    const std::vector<CorrelationCell>& cells, const ReproductionConfig& config,
    report::FigureFormat format);
// The groups of an item and who helps in them, a row per level: what is in the group, and the
// weights of its helpers. Nothing where there are no levels. `name` is that of the file.
[[nodiscard]] std::vector<report::Figure> draw_hierarchy(const ItemRelations& relations,
                                                         const std::string& name,
                                                         report::FigureFormat format);
}  // namespace fedhur::study
