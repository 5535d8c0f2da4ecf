#include "fedhur/methods/fedhur_round.hpp"

namespace fedhur::methods {
bool ServerContext::watches(Round round) const {
  return watcher != nullptr && watcher->round == round;
}

federation::RoundNotes notes_of(const FedHurRound& now) {
  federation::RoundNotes notes = now.trained.notes;
  if (now.score_loss) notes.numbers["score_loss"] = *now.score_loss;
  const std::vector<server::WeightSummary>& summaries = now.personal.summaries;
  if (summaries.empty()) return notes;
  notes.numbers["relation_entropy"] = now.personal.entropy;
  std::vector<Index> levels;
  double own_weights = 0.0;
  for (std::size_t s = 0; s < summaries.size(); ++s) {
    levels.push_back(now.groups.hierarchy->scopes[s].level);
    own_weights += summaries[s].own;
  }
  notes.numbers["own_weight"] = own_weights / static_cast<double>(summaries.size());
  if (summaries.front().blocks.size() > 0) server::put_summaries(notes.inside, summaries, levels);
  linalg::HierarchyTable table = linalg::to_table(*now.groups.hierarchy);
  if (table.members.cols() > 0) notes.inside.set("item_groups", std::move(table.members));
  return notes;
}
}  // namespace fedhur::methods
