// The learned scorer f: one small network for all levels and scopes, which learns what a direct
// score is made of.
#pragma once
#include "fedhur/base/config_table.hpp"
#include "fedhur/base/named_arrays.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/linalg/adam.hpp"
#include "fedhur/linalg/mlp.hpp"

namespace fedhur::server {
struct ScorerConfig {
  bool uses_strengths = true;  // rho: t inputs, one per query direction
  bool uses_scale = true;      // nu
  bool uses_total = true;      // sqrt(s)
  Index hidden = 32;
  Real learning_rate = 0.01F;
  Index passes = 5;
  Index training_rows = 16384;
  Real refinement_weight = 0.0F;  // lambda

  [[nodiscard]] bool is_used() const { return refinement_weight != 0.0F; }
  [[nodiscard]] Index num_features(Index directions) const {
    return (uses_strengths ? directions : 0) + (uses_scale ? 1 : 0) + (uses_total ? 1 : 0);
  }
};
void declare_settings(Settings& settings, ScorerConfig& config);

class Scorer {  // features -> hidden -> ReLU -> 1
 public:
  Scorer(Index num_features, const ScorerConfig& config, const Rng& rng);
  [[nodiscard]] Vector refine(ConstMatrixRef features) const;  // one score per row
  // Eq. (score_loss): the mean squared error before this call's passes of Adam.
  double update(ConstMatrixRef features, ConstVectorRef targets);
  [[nodiscard]] bool is_trained() const { return hidden_optimizer_.num_steps() > 0; }

  void save(NamedArrays& state) const;
  void restore(const NamedArrays& state);

  // The loss, and its gradient in the shape of the network (for update() and for tests).
  static double loss_and_gradient(const linalg::Mlp& network, ConstMatrixRef features,
                                  ConstVectorRef targets, linalg::Mlp& gradient);

 private:
  ScorerConfig config_;
  linalg::Mlp network_;
  linalg::Adam hidden_optimizer_;
  linalg::Adam output_optimizer_;
};
}  // namespace fedhur::server
