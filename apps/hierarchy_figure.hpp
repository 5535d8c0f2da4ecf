// The groups of an item and who helps in them, as a figure for papers.
#pragma once
#include <vector>

#include "apps/figure_script.hpp"
#include "fedhur/study/item_relations.hpp"

namespace fedhur::apps {
// A row per level: what is in the group, and the weights of its helpers. Nothing where there are no
// levels. `name` is that of the file.
[[nodiscard]] std::vector<Figure> draw_hierarchy(const study::ItemRelations& relations,
                                                 const std::string& name, FigureFormat format);
}  // namespace fedhur::apps
