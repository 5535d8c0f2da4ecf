// Training of neural collaborative filtering: parameters, and an optimiser for each of them.
#pragma once
#include <string>
#include <vector>

#include "fedhur/client/pointwise_training.hpp"
#include "fedhur/model/neural_cf.hpp"

namespace fedhur::client {
class NeuralTraining : public Training {
 public:
  // Of the configuration it uses what concerns optimisers.
  NeuralTraining(const PointwiseConfig& config, model::NeuralParameters start);

  [[nodiscard]] const model::Recommender& recommender() const override { return model_; }
  [[nodiscard]] PrivateState model() const override;
  [[nodiscard]] PrivateState save() const override;
  void restore(const PrivateState& state) override;

  struct Rates {  // of learning
    Real users = 0;
    Real items = 0;
    Real weights = 0;
  };
  [[nodiscard]] model::NeuralParameters& parameters() { return model_.parameters; }
  void begin_round();
  // A step of every optimiser; the gradient is used up.
  void step(model::NeuralGradient& gradient, const Rates& rates);

 private:
  model::NeuralCf model_;
  model::NeuralTables<PointwiseOptimizer> optimizers_;
};
}  // namespace fedhur::client
