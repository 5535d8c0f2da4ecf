#include "fedhur/client/fine_tuning.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/linalg/orthogonal.hpp"

namespace fedhur::client {
void read_settings(ConfigTable& table, FineTuningConfig& config) {
  ConfigSection section(table, "finetune");
  section.read("solver", config.solver);
  section.read("passes", config.passes);
  section.require(config.passes >= 1, "passes", "a number of 1 or more");
  section.read("steps", config.steps);
  section.require(config.steps >= 0, "steps", "a number of 0 or more");
  section.read("learning_rate", config.learning_rate);
  section.require(config.learning_rate > 0, "learning_rate", "a number above 0");
  section.read("weight_decay", config.weight_decay);
  section.require(config.weight_decay >= 0, "weight_decay", "a number of 0 or more");
  section.read("step", config.step);
  section.require(config.step > 0 && config.step <= 1, "step", "a number above 0, at most 1");
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
