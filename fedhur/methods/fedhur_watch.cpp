#include "fedhur/methods/fedhur_watch.hpp"

#include <fmt/ranges.h>

#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::methods {
namespace {
std::string describe_hierarchy(const linalg::ItemHierarchy& hierarchy) {
  std::string json = "[";
  for (Index s = 0; s < hierarchy.num_scopes(); ++s) {
    const linalg::Scope& scope = hierarchy.scopes[static_cast<std::size_t>(s)];
    json += fmt::format("{}\n{{\"id\": {}, \"level\": {}, \"parent\": ", s > 0 ? "," : "", s,
                        scope.level);
    json += scope.parent < 0 ? "null" : fmt::format("[{}, {}]", scope.parent, scope.member);
    json += ", \"members\": [";
    for (Index b = 0; b < scope.num_members(); ++b) {
      json += fmt::format("{}[{}]", b > 0 ? ", " : "", fmt::join(scope.member_items(b), ", "));
    }
    json += "]}";
  }
  return json + "\n]\n";
}

}  // namespace

std::string describe_config(const FedHurConfig& config, Index num_levels,
                            const std::string& common) {
  std::vector<Real> beta;
  for (Index level = 0; level < num_levels; ++level) {
    beta.push_back(linalg::level_weight(config.level_weights, level));
  }
  if (config.structure == Structure::single) beta = {config.single_weight};
  return fmt::format(
      "{{\n{},\n\"beta\": [{}], \"tau\": {}, \"lambda\": {}, \"clip\": {}, \"form\": \"{}\", "
      "\"filter_scale\": \"{}\", \"relation\": \"{}\", \"structure\": \"{}\", \"coarse\": "
      "\"{}\"\n}}\n",
      common, fmt::join(beta, ", "), config.retrieval.temperature, config.scorer.refinement_weight,
      config.retrieval.clip, name_of(config.query.form),
      config.query.is_spectral ? "spectral" : "none", name_of(config.retrieval.relation),
      name_of(config.structure), name_of(config.coarse));
}

void show_relations(const RoundWatcher& watcher, const RoundView& view) {
  watcher.show_json("hierarchy", describe_hierarchy(view.hierarchy));
  Index row = 0;
  Index at = 0;
  for (Index s = 0; s < view.hierarchy.num_scopes(); ++s) {
    const Index m = view.hierarchy.scopes[static_cast<std::size_t>(s)].num_members();
    const std::string folder = fmt::format("scopes/{}/", s);
    const server::Retrieval& retrieval = view.retrievals[static_cast<std::size_t>(s)];
    watcher.show_matrix(folder + "global_relation_filter",
                        view.filters[static_cast<std::size_t>(s)].to_dense());
    watcher.show_matrix(folder + "direct_scores", retrieval.direct_scores.cast<Real>());
    watcher.show_matrix(folder + "retrieval_scores", retrieval.retrieval_scores.cast<Real>());
    watcher.show_matrix(folder + "aggregation_weights", retrieval.aggregation_weights.cast<Real>());
    if (view.config.asks_queries()) {
      watcher.show_matrix(folder + "projection",
                          client::draw_projection(view.rng, s, m, view.config.query.directions));
      for (std::size_t k = 0; k < view.queries.size(); ++k) {
        watcher.show_matrix(fmt::format("{}projected_query/{}", folder, index_of(view.targets[k])),
                            view.queries[k]->middleRows(row, m));
      }
    }
    // With a single scope the residual lives in the global basis.
    const bool is_single = view.config.structure == Structure::single;
    for (std::size_t k = 0; k < view.residuals.size(); ++k) {
      const Matrix& packed = *view.residuals[k];
      const Index size = is_single ? linalg::side_of_packed(packed.size()) : m;
      watcher.show_matrix(
          fmt::format("{}{}/{}", folder, is_single ? "residual_core" : "residual_filter",
                      index_of(view.targets[k])),
          linalg::unpack(packed.data() + at, size));
    }
    row += m;
    at += linalg::packed_size(m);
  }
}

void note_relations(const linalg::ItemHierarchy& hierarchy,
                    const std::vector<server::WeightSummary>& summaries,
                    federation::RoundNotes& notes) {
  std::vector<Index> levels;
  double own_weights = 0.0;
  for (std::size_t s = 0; s < summaries.size(); ++s) {
    levels.push_back(hierarchy.scopes[s].level);
    own_weights += summaries[s].own;
  }
  notes.numbers["own_weight"] = own_weights / static_cast<double>(summaries.size());
  if (summaries.front().blocks.size() > 0) server::put_summaries(notes.inside, summaries, levels);
  linalg::HierarchyTable table = linalg::to_table(hierarchy);
  if (table.members.cols() > 0) notes.inside.set("item_groups", std::move(table.members));
}
}  // namespace fedhur::methods
