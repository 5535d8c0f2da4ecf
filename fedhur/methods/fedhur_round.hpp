// A round of FedHUR as a value: what each step of the paper's algorithm leaves to the next.
#pragma once
#include <functional>

#include "fedhur/methods/fedhur_config.hpp"
#include "fedhur/server/personalization.hpp"

namespace fedhur::methods {
// Item groups and what they have to do with each other. Empty without relations.
struct GroupedItems {
  Shared<linalg::ItemHierarchy> hierarchy;
  server::GroupEmbeddings embeddings;           // Z
  std::vector<linalg::RelationFilter> filters;  // F_g by scope, as the clients use them
  std::vector<double> spectral_norms;           // of the filters; where queries are asked
};

struct FedHurRound {
  FedHurConfig config{};               // with the weights of this round
  double weight_share = 1.0;           // that its schedule left of them
  FilterRound trained{};               // E_k, S_g
  GroupedItems groups{};               // Z, F_g
  server::Targets targets{};           // Q
  server::Personalization personal{};  // scores, alpha, R
  std::optional<double> score_loss{};
};

// Looks at one round, for a study or an independent check. A round of FedCIA is
// one without relations.
struct RoundWatcher {
  Round round = 0;
  std::function<void(const FedHurRound& now)> show;
};

// What the round tells about itself. The outline for the report has item groups, and who helps whom
// at each of their levels unless clients are missing.
[[nodiscard]] federation::RoundNotes notes_of(const FedHurRound& now);
}  // namespace fedhur::methods
