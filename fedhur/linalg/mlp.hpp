// A network of dense layers with one output, for as many rows of inputs at once as there are.
#pragma once
#include <vector>

#include "fedhur/base/matrix.hpp"
#include "fedhur/base/random.hpp"

namespace fedhur::linalg {
// Layer after layer, at least two: ReLU follows every layer but the last, which has one row. A
// layer is one matrix, outputs x (inputs + 1), whose last column is the bias.
using Mlp = std::vector<Matrix>;

// Weights and bias alike, uniform in +-1/sqrt(inputs).
[[nodiscard]] Matrix draw_layer(Index outputs, Index inputs, Rng rng);

// W x + b of every row x.
[[nodiscard]] Matrix apply_layer(const Matrix& layer, ConstMatrixRef inputs);

struct MlpPass {
  std::vector<Matrix> activations;  // of every layer but the last, after ReLU
  Vector outputs;                   // one per row
};
// All that follows the sums W x + b of the first layer, for callers that get these cheaper than
// from the inputs.
[[nodiscard]] MlpPass finish_pass(const Mlp& network, Matrix first_sums);
[[nodiscard]] MlpPass run(const Mlp& network, ConstMatrixRef inputs);

// `slopes` are those of some loss by the outputs; `gradient` becomes that by the parameters, in
// their shape. Returns the slopes by the sums of the first layer.
[[nodiscard]] Matrix backpropagate(const Mlp& network, ConstMatrixRef inputs, const MlpPass& pass,
                                   ConstVectorRef slopes, Mlp& gradient);
// From there to the slopes by the inputs.
[[nodiscard]] Matrix slopes_by_inputs(const Mlp& network, const Matrix& first_slopes);
}  // namespace fedhur::linalg
