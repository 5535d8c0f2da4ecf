#include "fedhur/linalg/mlp.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fedhur/base/error.hpp"

namespace fedhur::linalg {
namespace {
// The gradient of a layer from its inputs and the slopes by its sums.
void set_layer_gradient(ConstMatrixRef inputs, const Matrix& slopes, Matrix& gradient) {
  gradient.resize(slopes.cols(), inputs.cols() + 1);
  gradient.leftCols(inputs.cols()) = slopes.transpose() * inputs;
  gradient.col(inputs.cols()) = slopes.colwise().sum().transpose();
}

void silence_inactive(Matrix& slopes, const Matrix& activation) {
  slopes.array() *= (activation.array() > 0.0F).cast<Real>();
}
}  // namespace

Matrix draw_layer(Index outputs, Index inputs, Rng rng) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(std::max<Index>(1, inputs)));
  Matrix layer(outputs, inputs + 1);
  for (Index i = 0; i < layer.size(); ++i) {
    layer.data()[i] = static_cast<Real>(bound * (2.0 * rng.uniform() - 1.0));
  }
  return layer;
}

Matrix apply_layer(const Matrix& layer, ConstMatrixRef inputs) {
  expects(layer.cols() == inputs.cols() + 1, "the inputs are as wide as the layer expects");
  Matrix sums = inputs * layer.leftCols(inputs.cols()).transpose();
  sums.rowwise() += layer.col(inputs.cols()).transpose();
  return sums;
}

MlpPass finish_pass(const Mlp& network, Matrix first_sums) {
  expects(network.size() >= 2, "a network has a hidden layer");
  MlpPass pass;
  Matrix sums = std::move(first_sums);
  for (std::size_t layer = 1; layer < network.size(); ++layer) {
    pass.activations.emplace_back(sums.cwiseMax(0.0F));
    if (layer + 1 < network.size()) sums = apply_layer(network[layer], pass.activations.back());
  }
  const Matrix& output = network.back();
  const Matrix& activation = pass.activations.back();
  const Index width = activation.cols();
  pass.outputs = activation * output.leftCols(width).transpose();
  pass.outputs.array() += output(0, width);
  return pass;
}

MlpPass run(const Mlp& network, ConstMatrixRef inputs) {
  return finish_pass(network, apply_layer(network.front(), inputs));
}

Matrix backpropagate(const Mlp& network, ConstMatrixRef inputs, const MlpPass& pass,
                     ConstVectorRef slopes, Mlp& gradient) {
  gradient.resize(network.size());
  const Matrix& output = network.back();
  const Matrix& last = pass.activations.back();
  const Index width = last.cols();
  gradient.back().resize(1, width + 1);
  gradient.back().leftCols(width) = slopes.transpose() * last;
  gradient.back()(0, width) = slopes.sum();
  Matrix hidden_slopes = slopes * output.leftCols(width);
  silence_inactive(hidden_slopes, last);
  for (std::size_t layer = network.size() - 2; layer > 0; --layer) {
    const Matrix& before = pass.activations[layer - 1];
    set_layer_gradient(before, hidden_slopes, gradient[layer]);
    hidden_slopes = (hidden_slopes * network[layer].leftCols(before.cols())).eval();
    silence_inactive(hidden_slopes, before);
  }
  set_layer_gradient(inputs, hidden_slopes, gradient.front());
  return hidden_slopes;
}

Matrix slopes_by_inputs(const Mlp& network, const Matrix& first_slopes) {
  return first_slopes * network.front().leftCols(network.front().cols() - 1);
}
}  // namespace fedhur::linalg
