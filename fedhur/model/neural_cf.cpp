#include "fedhur/model/neural_cf.hpp"

#include "fedhur/model/logistic.hpp"

namespace fedhur::model {
namespace {
using linalg::RowGradient;

// A batch on its way through the model.
struct Pass {
  Matrix inputs;    // [p ; e] of every pair
  Matrix products;  // p' * e', entry by entry
  linalg::MlpPass network;
  Vector logits;
};

Pass forward(const NeuralParameters& model, std::span<const LabelledPair> batch) {
  const Index dim = model.user_vectors.cols();
  const auto count = static_cast<Index>(batch.size());
  Pass pass;
  pass.inputs.resize(count, dim + model.item_embeddings.cols());
  pass.products.resize(count, model.gmf_weights.cols());
  for (Index b = 0; b < count; ++b) {
    const LabelledPair& pair = batch[static_cast<std::size_t>(b)];
    pass.inputs.row(b).head(dim) = model.user_vectors.row(pair.user);
    pass.inputs.row(b).tail(model.item_embeddings.cols()) = model.item_embeddings.row(pair.item);
    pass.products.row(b) = model.gmf_user_vectors.row(pair.user).cwiseProduct(
        model.gmf_item_embeddings.row(pair.item));
  }
  pass.network = linalg::run(model.network, pass.inputs);
  pass.logits = pass.network.outputs;
  if (model.gmf_weights.cols() > 0) {
    pass.logits.noalias() += pass.products * model.gmf_weights.row(0).transpose();
  }
  return pass;
}

// row += values, entry by entry
template <class Row>
void add_to_row(RowGradient& gradient, Index row, const Row& values) {
  Eigen::Map<Eigen::Matrix<Real, 1, Eigen::Dynamic>>(gradient.row(row), values.size()) += values;
}

void touch_all(std::span<const LabelledPair> batch, NeuralGradient& gradient, bool has_gmf) {
  for (const LabelledPair& pair : batch) {
    gradient.user_vectors.touch(pair.user);
    gradient.item_embeddings.touch(pair.item);
    if (!has_gmf) continue;
    gradient.gmf_user_vectors.touch(pair.user);
    gradient.gmf_item_embeddings.touch(pair.item);
  }
}
}  // namespace

NeuralWeights draw_weights(Index embedding_dim, Index gmf_dim, const std::vector<Index>& hidden,
                           const Rng& rng) {
  NeuralWeights weights;
  Index inputs = 2 * embedding_dim;
  for (const Index outputs : hidden) {
    weights.network.push_back(
        linalg::draw_layer(outputs, inputs, rng.stream(Draw::layer_init, weights.network.size())));
    inputs = outputs;
  }
  const Matrix output =
      linalg::draw_layer(1, gmf_dim + inputs, rng.stream(Draw::layer_init, weights.network.size()));
  weights.gmf_weights = output.leftCols(gmf_dim);
  weights.network.emplace_back(output.rightCols(inputs + 1));
  return weights;
}

void NeuralCf::score(Index first_user, MatrixRef scores) const {
  const Index dim = parameters.user_vectors.cols();
  const Matrix& first = parameters.network.front();
  const auto users = parameters.user_vectors.middleRows(first_user, scores.rows());
  const Matrix user_sums = users * first.leftCols(dim).transpose();
  const Matrix item_sums =
      linalg::apply_layer(first.rightCols(first.cols() - dim), parameters.item_embeddings);
  for (Index row = 0; row < scores.rows(); ++row) {
    Matrix sums = item_sums.rowwise() + user_sums.row(row);
    scores.row(row) = linalg::finish_pass(parameters.network, std::move(sums)).outputs.transpose();
  }
  if (parameters.gmf_weights.cols() == 0) return;
  const Matrix weighed = parameters.gmf_user_vectors.middleRows(first_user, scores.rows()) *
                         parameters.gmf_weights.row(0).asDiagonal();
  scores.noalias() += weighed * parameters.gmf_item_embeddings.transpose();
}

bool is_whole(const NeuralParameters& parameters) {
  const linalg::Mlp& network = parameters.network;
  if (network.size() < 2 || network.back().rows() != 1) return false;
  Index inputs = parameters.user_vectors.cols() + parameters.item_embeddings.cols();
  for (const Matrix& layer : network) {
    if (layer.rows() < 1 || layer.cols() != inputs + 1) return false;
    inputs = layer.rows();
  }
  const Index gmf_dim = parameters.gmf_weights.cols();
  return parameters.gmf_weights.rows() == 1 && parameters.gmf_user_vectors.cols() == gmf_dim &&
         parameters.gmf_item_embeddings.cols() == gmf_dim &&
         parameters.gmf_user_vectors.rows() == parameters.user_vectors.rows() &&
         parameters.gmf_item_embeddings.rows() == parameters.item_embeddings.rows();
}

Vector score_pairs(const NeuralParameters& parameters, std::span<const LabelledPair> batch) {
  return forward(parameters, batch).logits;
}

double add_batch_gradient(const NeuralParameters& parameters, std::span<const LabelledPair> batch,
                          NeuralGradient& gradient) {
  const Pass pass = forward(parameters, batch);
  const auto count = static_cast<Index>(batch.size());
  Vector slopes(count);
  double total = 0.0;
  for (Index b = 0; b < count; ++b) {
    const LogitLoss loss =
        cross_entropy(static_cast<double>(pass.logits(b)),
                      static_cast<double>(batch[static_cast<std::size_t>(b)].label));
    total += loss.value;
    slopes(b) = static_cast<Real>(loss.slope / static_cast<double>(count));
  }
  linalg::Mlp layer_gradients;
  const Matrix by_inputs = linalg::slopes_by_inputs(
      parameters.network, linalg::backpropagate(parameters.network, pass.inputs, pass.network,
                                                slopes, layer_gradients));
  for (std::size_t layer = 0; layer < layer_gradients.size(); ++layer) {
    gradient.network[layer].add(layer_gradients[layer]);
  }
  const bool has_gmf = parameters.gmf_weights.cols() > 0;
  if (has_gmf) gradient.gmf_weights.add(slopes.transpose() * pass.products);
  touch_all(batch, gradient, has_gmf);
  const Index dim = parameters.user_vectors.cols();
  for (Index b = 0; b < count; ++b) {
    const LabelledPair& pair = batch[static_cast<std::size_t>(b)];
    add_to_row(gradient.user_vectors, pair.user, by_inputs.row(b).head(dim));
    add_to_row(gradient.item_embeddings, pair.item, by_inputs.row(b).tail(by_inputs.cols() - dim));
    if (!has_gmf) continue;
    const auto w = parameters.gmf_weights.row(0);
    add_to_row(gradient.gmf_user_vectors, pair.user,
               slopes(b) * w.cwiseProduct(parameters.gmf_item_embeddings.row(pair.item)));
    add_to_row(gradient.gmf_item_embeddings, pair.item,
               slopes(b) * w.cwiseProduct(parameters.gmf_user_vectors.row(pair.user)));
  }
  return total;
}

NeuralGradient make_gradient(const NeuralParameters& parameters) {
  return parameters.map(
      [](const Matrix& table) { return RowGradient(table.rows(), table.cols()); });
}

void clear(NeuralGradient& gradient) {
  visit_tables([](const std::string& /*name*/, RowGradient& own) { own.clear(); }, gradient);
}
}  // namespace fedhur::model
