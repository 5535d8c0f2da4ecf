#include "fedhur/linalg/mlp.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::linalg {
namespace {
using tests::Dense;
using DenseMlp = std::vector<Dense>;

// The output for one row of inputs in double, neuron by neuron.
double output_of(const DenseMlp& network, std::vector<double> values) {
  for (std::size_t layer = 0; layer < network.size(); ++layer) {
    const Dense& weights = network[layer];
    const auto inputs = static_cast<Index>(values.size());
    std::vector<double> next;
    for (Index neuron = 0; neuron < weights.rows(); ++neuron) {
      double sum = weights(neuron, inputs);
      for (Index i = 0; i < inputs; ++i)
        sum += weights(neuron, i) * values[static_cast<std::size_t>(i)];
      next.push_back(layer + 1 < network.size() ? std::max(0.0, sum) : sum);
    }
    values = next;
  }
  return values.front();
}

Dense outputs_of(const DenseMlp& network, const Dense& inputs) {
  Dense outputs(inputs.rows(), 1);
  for (Index row = 0; row < inputs.rows(); ++row) {
    outputs(row, 0) = output_of(
        network,
        std::vector<double>(inputs.row(row).data(), inputs.row(row).data() + inputs.cols()));
  }
  return outputs;
}

// d/d(entry) of slopes . outputs, for every entry of `table`, which the network or the inputs hold.
Dense differences(Dense& table, const std::function<double()>& weighed_outputs) {
  constexpr double kStep = 1e-6;
  Dense result(table.rows(), table.cols());
  for (Index i = 0; i < table.size(); ++i) {
    const double value = table.data()[i];
    table.data()[i] = value + kStep;
    const double above = weighed_outputs();
    table.data()[i] = value - kStep;
    const double below = weighed_outputs();
    table.data()[i] = value;
    result.data()[i] = (above - below) / (2.0 * kStep);
  }
  return result;
}

struct Case {
  Case(const std::vector<Index>& widths, Index num_inputs, Index rows, std::uint64_t seed)
      : inputs(tests::random_matrix(rows, num_inputs, seed)),
        slopes(tests::random_matrix(rows, 1, seed + 1).col(0)) {
    Index before = num_inputs;
    for (const Index width : widths) {
      network.push_back(tests::random_matrix(width, before + 1, seed + 2 + network.size()));
      before = width;
    }
    for (const Matrix& layer : network) dense_network.emplace_back(layer.cast<double>());
    dense_inputs = inputs.cast<double>();
  }
  [[nodiscard]] double weighed_outputs() const {
    return slopes.cast<double>().dot(outputs_of(dense_network, dense_inputs).col(0));
  }
  Mlp network;
  Matrix inputs;
  Vector slopes;
  DenseMlp dense_network;
  Dense dense_inputs;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    all.emplace_back(std::vector<Index>{5, 1}, 4, 7, 100 * seed);
    all.emplace_back(std::vector<Index>{6, 3, 2, 1}, 3, 9, 100 * seed + 50);
    all.emplace_back(std::vector<Index>{1, 1}, 1, 1, 100 * seed + 70);
  }
  return all;
}

TEST(Mlp, PutsOutWhatItsDefinitionSays) {
  for (const Case& given : cases()) {
    tests::expect_close(Matrix(run(given.network, given.inputs).outputs),
                        outputs_of(given.dense_network, given.dense_inputs), 1e-5);
  }
}

TEST(Mlp, HasTheGradientOfItsOutputs) {
  for (Case& given : cases()) {
    const MlpPass pass = run(given.network, given.inputs);
    Mlp gradient;
    const Matrix first_slopes =
        backpropagate(given.network, given.inputs, pass, given.slopes, gradient);
    const auto value = [&] { return given.weighed_outputs(); };
    ASSERT_EQ(gradient.size(), given.network.size());
    for (std::size_t layer = 0; layer < gradient.size(); ++layer) {
      tests::expect_close(gradient[layer], differences(given.dense_network[layer], value), 1e-4);
    }
    tests::expect_close(slopes_by_inputs(given.network, first_slopes),
                        differences(given.dense_inputs, value), 1e-4);
  }
}

TEST(Mlp, StartsWithinTheBoundsOfItsInputs) {
  const Matrix layer = draw_layer(40, 16, Rng(3));
  EXPECT_EQ(layer.cols(), 17);
  EXPECT_LE(layer.cwiseAbs().maxCoeff(), 0.25F);
  EXPECT_GT(layer.maxCoeff(), 0.24F);
  EXPECT_LT(layer.minCoeff(), -0.24F);
  EXPECT_NEAR(layer.mean(), 0.0F, 0.02F);
  EXPECT_EQ(layer, draw_layer(40, 16, Rng(3)));
  EXPECT_NE(layer, draw_layer(40, 16, Rng(4)));
}
}  // namespace
}  // namespace fedhur::linalg
