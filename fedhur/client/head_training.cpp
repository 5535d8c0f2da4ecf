#include "fedhur/client/head_training.hpp"

#include <cmath>

#include "fedhur/base/random_matrix.hpp"

namespace fedhur::client {
namespace {
Index num_heads(model::HeadOwner owner, const ClientContext& context) {
  return owner == model::HeadOwner::client ? 1 : context.train.num_users();
}
}  // namespace

HeadClient::HeadClient(const PointwiseConfig& config, model::HeadOwner owner, ClientContext context)
    : config_(config),
      context_(std::move(context)),
      head_optimizer_(config, num_heads(owner, context_), config.embedding_dim + 1) {
  model_.users = context_.train.num_users();
  // As dense layers begin: weights and bias alike.
  const Real limit = 1 / std::sqrt(static_cast<Real>(config.embedding_dim));
  model_.heads = draw_private_rows(
      config_, context_, Draw::layer_init, num_heads(owner, context_), [&](Index rows, Rng rng) {
        return uniform_matrix(rows, config_.embedding_dim + 1, limit, rng);
      });
  model_.item_embeddings =
      std::make_shared<const Matrix>(Matrix::Zero(context_.num_items, config.embedding_dim));
}

void HeadClient::set_item_embeddings(Shared<Matrix> embeddings) {
  expects(embeddings->rows() == context_.num_items && embeddings->cols() == config_.embedding_dim,
          "item embeddings have the model's shape");
  model_.item_embeddings = std::move(embeddings);
}

PrivateState HeadClient::model() const { return to_state(model_); }

PrivateState HeadClient::save() const {
  PrivateState state("linear_heads");
  state.set("heads", model_.heads);
  head_optimizer_.save(state, "head");
  return state;
}

void HeadClient::restore(const PrivateState& state) {
  model_.heads = state.matrix("heads");
  head_optimizer_.restore(state, "head");
}
}  // namespace fedhur::client
