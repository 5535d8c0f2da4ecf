#include "fedhur/client/fine_tuning.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/settings.hpp"
#include "fedhur/linalg/orthogonal.hpp"

namespace fedhur::client {
void declare_settings(Settings& settings, FineTuningConfig& config) {
  settings.add("finetune.solver", config.solver,
               "`exact`: of all minimisers the one nearest to E_k, in one shot. `gradient`: the "
               "published steps");
  settings.add("finetune.passes", config.passes, at_least(1),
               "of `exact` with residuals: applications of the filter, each n (2 r + leaf_items) d "
               "multiplications. 1 is 1 to 2 % above the least distance, 2 is 0.1 %; quality is "
               "the same ([round_check](results/round_check.md))");
  settings.add("finetune.steps", config.steps, at_least(0), "of the `gradient` solver", "J");
  settings.add("finetune.learning_rate", config.learning_rate, above(0),
               "of a step of the `gradient` solver", "agg_lr");
  settings.add("finetune.weight_decay", config.weight_decay, at_least(0),
               "of a step of the `gradient` solver", "wd");
  settings.add("finetune.step", config.step, above_to(0, 1),
               "part of the way from E_k to the fine-tuned embeddings");
}

Matrix finetune_exactly(ConstMatrixRef item_embeddings, const linalg::ItemFilter& filter,
                        Index passes) {
  const linalg::ItemFactor T = linalg::best_factor(filter, item_embeddings, passes);
  if (T.small.cols() == 0) return Matrix::Zero(item_embeddings.rows(), item_embeddings.cols());
  const MatrixOf<double> overlap =
      (item_embeddings.transpose() * *T.tall).cast<double>() * T.small;  // E^T T
  const MatrixOf<double> O = linalg::polar_factor(overlap);              // Procrustes
  const Matrix rotated = (T.small * O.transpose()).cast<Real>();
  return *T.tall * rotated;
}

Matrix finetune_by_gradient(Matrix item_embeddings, const linalg::ItemFilter& filter,
                            const FineTuningConfig& config) {
  Matrix& E = item_embeddings;
  const double filter_norm = filter.squared_norm();
  for (Index step = 0; step < config.steps; ++step) {
    const Matrix G = E.transpose() * E;
    const Matrix product = filter.apply(E);
    const double mixed = E.cast<double>().cwiseProduct(product.cast<double>()).sum();
    const double f = std::sqrt(
        std::max(0.0, G.cast<double>().squaredNorm() - 2.0 * mixed + filter_norm));  // ||M||_F
    if (!(f > 0.0)) break;
    Matrix gradient = E * G - product;
    gradient *= static_cast<Real>(2.0 / f);
    E -= config.learning_rate * (gradient + config.weight_decay * E);
  }
  return item_embeddings;
}

Matrix finetune(ConstMatrixRef item_embeddings, const linalg::ItemFilter& filter,
                const FineTuningConfig& config) {
  Matrix tuned = config.solver == FineTuneSolver::exact
                     ? finetune_exactly(item_embeddings, filter, config.passes)
                     : finetune_by_gradient(item_embeddings, filter, config);
  if (config.step < 1.0F) tuned = item_embeddings + config.step * (tuned - item_embeddings);
  return tuned;
}
}  // namespace fedhur::client
