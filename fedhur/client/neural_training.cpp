#include "fedhur/client/neural_training.hpp"

#include <utility>

namespace fedhur::client {
namespace {
model::NeuralCf as_model(model::NeuralParameters parameters) {
  expects(is_whole(parameters), "all tables of the model fit together");
  model::NeuralCf model;
  model.parameters = std::move(parameters);
  return model;
}
}  // namespace

NeuralTraining::NeuralTraining(const PointwiseConfig& config, model::NeuralParameters start)
    : model_(as_model(std::move(start))),
      optimizers_(model_.parameters.map([&](const Matrix& table) {
        return PointwiseOptimizer(config, table.rows(), table.cols());
      })) {}

void NeuralTraining::begin_round() {
  visit_tables([](const std::string& /*name*/, PointwiseOptimizer& own) { own.begin_round(); },
               optimizers_);
}

void NeuralTraining::step(model::NeuralGradient& gradient, const Rates& rates) {
  const auto at = [](Real rate) {
    return [rate](const std::string& /*name*/, Matrix& table, linalg::RowGradient& own,
                  PointwiseOptimizer& optimizer) {
      optimizer.step(table, own, rate);
      own.clear();
    };
  };
  visit_user_tables(at(rates.users), parameters(), gradient, optimizers_);
  visit_item_tables(at(rates.items), parameters(), gradient, optimizers_);
  visit_weights(at(rates.weights), parameters(), gradient, optimizers_);
}

PrivateState NeuralTraining::model() const { return to_state(model_); }

PrivateState NeuralTraining::save() const {
  PrivateState state = model();
  visit_tables(
      [&](const std::string& name, const PointwiseOptimizer& own) { own.save(state, name); },
      optimizers_);
  return state;
}

void NeuralTraining::restore(const PrivateState& state) {
  visit_tables([&](const std::string& name, Matrix& table) { table = state.matrix(name); },
               parameters());
  visit_tables([&](const std::string& name, PointwiseOptimizer& own) { own.restore(state, name); },
               optimizers_);
}
}  // namespace fedhur::client
