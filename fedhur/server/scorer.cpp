#include "fedhur/server/scorer.hpp"

#include <algorithm>

#include "fedhur/base/error.hpp"
#include "fedhur/base/settings.hpp"

namespace fedhur::server {
namespace {
void step(linalg::Adam& optimizer, Matrix& parameters, const Matrix& gradient, Real rate) {
  linalg::RowGradient rows(parameters.rows(), parameters.cols());
  rows.add(gradient);
  optimizer.step(parameters, rows, rate);
}
}  // namespace

void declare_settings(Settings& settings, ScorerConfig& config) {
  const std::array<std::pair<std::string, bool*>, 3> known = {
      {{"strengths", &config.uses_strengths},
       {"scale", &config.uses_scale},
       {"total", &config.uses_total}}};
  std::vector<ConfigScalar> inputs;
  for (const auto& [name, is_used] : known) {
    if (*is_used) inputs.emplace_back(name);
  }
  const auto is_allowed = [&](std::span<const ConfigScalar> names) {
    return !names.empty() && std::ranges::all_of(names, [&](const ConfigScalar& name) {
      const auto is_it = [&](const auto& input) { return name == ConfigScalar(input.first); };
      return std::ranges::count(names, name) == 1 && std::ranges::any_of(known, is_it);
    });
  };
  settings.add_list("scorer.inputs", inputs,
                    "a list of some of \"strengths\", \"scale\" and \"total\"", is_allowed,
                    "what the scorer sees of a pair: `strengths` rho, `scale` nu, `total` sqrt s",
                    "x");
  for (const auto& [name, is_used] : known) {
    *is_used = std::ranges::count(inputs, ConfigScalar(name)) > 0;
  }
  settings.add("scorer.hidden", config.hidden, between(1, 4096), "width of the only hidden layer");
  settings.add("scorer.learning_rate", config.learning_rate, above(0), "of its Adam");
  settings.add("scorer.passes", config.passes, at_least(0), "steps of its Adam a round");
  settings.add("scorer.training_rows", config.training_rows, at_least(1),
               "pairs of clients that a round's training sees, at most");
  settings.add(
      "scorer.refinement_weight", config.refinement_weight, at_least(0),
      "0: direct scores alone. Above 0 the scorer is trained every round and used the round after; "
      "scores then cost t times more ([decision 6](decisions/0006-scorer-off-by-default.md))",
      "lambda");
}

Scorer::Scorer(Index num_features, const ScorerConfig& config, const Rng& rng)
    : config_(config),
      network_{linalg::draw_layer(config.hidden, num_features, rng.stream(Draw::scorer_init, 0)),
               linalg::draw_layer(1, config.hidden, rng.stream(Draw::scorer_init, 1))},
      hidden_optimizer_(config.hidden, num_features + 1),
      output_optimizer_(1, config.hidden + 1) {}

Vector Scorer::refine(ConstMatrixRef features) const {
  return linalg::run(network_, features).outputs;
}

double Scorer::loss_and_gradient(const linalg::Mlp& network, ConstMatrixRef features,
                                 ConstVectorRef targets, linalg::Mlp& gradient) {
  expects(features.rows() == targets.size(), "a target per row");
  const Index rows = features.rows();
  const linalg::MlpPass pass = linalg::run(network, features);
  const Vector error = pass.outputs - targets;
  const Vector slopes = error * (2.0F / static_cast<Real>(rows));
  (void)linalg::backpropagate(network, features, pass, slopes, gradient);
  return error.cast<double>().squaredNorm() / static_cast<double>(rows);
}

double Scorer::update(ConstMatrixRef features, ConstVectorRef targets) {
  if (features.rows() == 0) return 0.0;
  double first_loss = 0.0;
  linalg::Mlp gradient;
  for (Index pass = 0; pass < config_.passes; ++pass) {
    const double loss = loss_and_gradient(network_, features, targets, gradient);
    if (pass == 0) first_loss = loss;
    step(hidden_optimizer_, network_[0], gradient[0], config_.learning_rate);
    step(output_optimizer_, network_[1], gradient[1], config_.learning_rate);
  }
  return first_loss;
}

void Scorer::save(NamedArrays& state) const {
  state.set("scorer_hidden", network_[0]);
  state.set("scorer_output", network_[1]);
  linalg::save_adam(state, "scorer_hidden", hidden_optimizer_);
  linalg::save_adam(state, "scorer_output", output_optimizer_);
}

void Scorer::restore(const NamedArrays& state) {
  network_[0] = state.matrix("scorer_hidden");
  network_[1] = state.matrix("scorer_output");
  linalg::restore_adam(state, "scorer_hidden", hidden_optimizer_);
  linalg::restore_adam(state, "scorer_output", output_optimizer_);
}
}  // namespace fedhur::server
