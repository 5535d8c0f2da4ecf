// Eq. (local_finetune): the client's item embeddings are pulled towards its personalised filter.
#pragma once
#include "fedhur/base/config_table.hpp"
#include "fedhur/linalg/item_filter.hpp"

namespace fedhur::client {
enum class FineTuneSolver : std::uint8_t {
  exact,     // the nearest of all minimisers, in one shot
  gradient,  // the published way: normalised gradient steps
};
constexpr auto names_of(FineTuneSolver) { return std::array{"exact", "gradient"}; }

struct FineTuningConfig {
  FineTuneSolver solver = FineTuneSolver::exact;
  Index passes = 1;
  Index steps = 100;          // J
  Real learning_rate = 0.1F;  // agg_lr
  Real weight_decay = 0.0F;   // wd
  Real step = 1.0F;
};
void declare_settings(Settings& settings, FineTuningConfig& config);

// E that lowers ||E E^T - filter||_F, in the frame of the present embeddings, in which the private
// user vectors live.
[[nodiscard]] Matrix finetune(ConstMatrixRef item_embeddings, const linalg::ItemFilter& filter,
                              const FineTuningConfig& config);

// The two solvers: T O^T with the polar factor O of E^T T for the best factor T, and J steps of
// E <- E - rate * ((M + M^T) E / ||M||_F + decay * E), M = E E^T - filter.
[[nodiscard]] Matrix finetune_exactly(ConstMatrixRef item_embeddings,
                                      const linalg::ItemFilter& filter, Index passes);
[[nodiscard]] Matrix finetune_by_gradient(Matrix item_embeddings, const linalg::ItemFilter& filter,
                                          const FineTuningConfig& config);
}  // namespace fedhur::client
