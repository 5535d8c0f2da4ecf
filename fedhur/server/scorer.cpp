#include "fedhur/server/scorer.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/error.hpp"

namespace fedhur::server {
namespace {
// Weights and bias alike, uniform in +-1/sqrt(inputs).
Matrix draw_layer(Index outputs, Index inputs, Rng rng) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(std::max<Index>(1, inputs)));
  Matrix layer(outputs, inputs + 1);
  for (Index i = 0; i < layer.size(); ++i) {
    layer.data()[i] = static_cast<Real>(bound * (2.0 * rng.uniform() - 1.0));
  }
  return layer;
}

Matrix activate(const Matrix& hidden, ConstMatrixRef features) {
  const Index inputs = features.cols();
  Matrix activation = features * hidden.leftCols(inputs).transpose();
  activation.rowwise() += hidden.col(inputs).transpose();
  return activation.cwiseMax(0.0F);
}

Vector put_out(const Matrix& output, const Matrix& activation) {
  const Index width = activation.cols();
  Vector result = activation * output.leftCols(width).transpose();
  result.array() += output(0, width);
  return result;
}

void step(linalg::Adam& optimizer, Matrix& parameters, const Matrix& gradient, Real rate) {
  linalg::RowGradient rows(parameters.rows(), parameters.cols());
  for (Index row = 0; row < parameters.rows(); ++row) {
    rows.touch(row);
    std::copy_n(gradient.row(row).data(), gradient.cols(), rows.row(row));
  }
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
      parameters_{
          .hidden = draw_layer(config.hidden, num_features, rng.stream(Draw::scorer_init, 0)),
          .output = draw_layer(1, config.hidden, rng.stream(Draw::scorer_init, 1))},
      hidden_optimizer_(config.hidden, num_features + 1),
      output_optimizer_(1, config.hidden + 1) {}

Vector Scorer::refine(ConstMatrixRef features) const {
  return put_out(parameters_.output, activate(parameters_.hidden, features));
}

double Scorer::loss_and_gradient(const Parameters& parameters, ConstMatrixRef features,
                                 ConstVectorRef targets, Parameters& gradient) {
  expects(features.rows() == targets.size(), "a target per row");
  const Index rows = features.rows();
  const Index inputs = features.cols();
  const Index width = parameters.hidden.rows();
  const Matrix activation = activate(parameters.hidden, features);
  const Vector error = put_out(parameters.output, activation) - targets;
  const Vector slope = error * (2.0F / static_cast<Real>(rows));
  gradient.output.resize(1, width + 1);
  gradient.output.leftCols(width) = slope.transpose() * activation;
  gradient.output(0, width) = slope.sum();
  Matrix hidden_slope = slope * parameters.output.leftCols(width);
  hidden_slope.array() *= (activation.array() > 0.0F).cast<Real>();
  gradient.hidden.resize(width, inputs + 1);
  gradient.hidden.leftCols(inputs) = hidden_slope.transpose() * features;
  gradient.hidden.col(inputs) = hidden_slope.colwise().sum().transpose();
  return error.cast<double>().squaredNorm() / static_cast<double>(rows);
}

double Scorer::update(ConstMatrixRef features, ConstVectorRef targets) {
  if (features.rows() == 0) return 0.0;
  double first_loss = 0.0;
  Parameters gradient;
  for (Index pass = 0; pass < config_.passes; ++pass) {
    const double loss = loss_and_gradient(parameters_, features, targets, gradient);
    if (pass == 0) first_loss = loss;
    step(hidden_optimizer_, parameters_.hidden, gradient.hidden, config_.learning_rate);
    step(output_optimizer_, parameters_.output, gradient.output, config_.learning_rate);
  }
  return first_loss;
}

void Scorer::save(NamedArrays& state) const {
  state.set("scorer_hidden", parameters_.hidden);
  state.set("scorer_output", parameters_.output);
  linalg::save_adam(state, "scorer_hidden", hidden_optimizer_);
  linalg::save_adam(state, "scorer_output", output_optimizer_);
}

void Scorer::restore(const NamedArrays& state) {
  parameters_.hidden = state.matrix("scorer_hidden");
  parameters_.output = state.matrix("scorer_output");
  linalg::restore_adam(state, "scorer_hidden", hidden_optimizer_);
  linalg::restore_adam(state, "scorer_output", output_optimizer_);
}
}  // namespace fedhur::server
