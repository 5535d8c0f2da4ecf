#include "fedhur/server/scorer.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/error.hpp"

namespace fedhur::server {
namespace {
void step(linalg::Adam& optimizer, Matrix& parameters, const Matrix& gradient, Real rate) {
  linalg::RowGradient rows(parameters.rows(), parameters.cols());
  rows.add(gradient);
  optimizer.step(parameters, rows, rate);
}
}  // namespace

void read_settings(ConfigTable& table, ScorerConfig& config) {
  ConfigSection section(table, "scorer");
  std::vector<ConfigScalar> inputs;
  if (config.uses_strengths) inputs.emplace_back(std::string("strengths"));
  if (config.uses_scale) inputs.emplace_back(std::string("scale"));
  if (config.uses_total) inputs.emplace_back(std::string("total"));
  section.read("inputs", inputs);
  config.uses_strengths = config.uses_scale = config.uses_total = false;
  constexpr const char* kExpected = "a list of some of \"strengths\", \"scale\" and \"total\"";
  section.require(!inputs.empty(), "inputs", kExpected);
  for (const ConfigScalar& input : inputs) {
    const auto* word = std::get_if<std::string>(&input);
    section.require(word != nullptr, "inputs", kExpected);
    bool& flag = *word == "strengths" ? config.uses_strengths
                 : *word == "scale"   ? config.uses_scale
                                      : config.uses_total;
    section.require(!flag && (*word == "strengths" || *word == "scale" || *word == "total"),
                    "inputs", kExpected);
    flag = true;
  }
  section.read("hidden", config.hidden);
  section.require(config.hidden >= 1 && config.hidden <= 4096, "hidden", "a number from 1 to 4096");
  section.read("learning_rate", config.learning_rate);
  section.require(config.learning_rate > 0, "learning_rate", "a number above 0");
  section.read("passes", config.passes);
  section.require(config.passes >= 0, "passes", "a number of 0 or more");
  section.read("training_rows", config.training_rows);
  section.require(config.training_rows >= 1, "training_rows", "a number of 1 or more");
  section.read("refinement_weight", config.refinement_weight);
  section.require(std::isfinite(config.refinement_weight) && config.refinement_weight >= 0,
                  "refinement_weight", "a number of 0 or more");
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
