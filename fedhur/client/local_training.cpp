#include "fedhur/client/local_training.hpp"

#include "fedhur/base/error.hpp"
#include "fedhur/base/random_matrix.hpp"
#include "fedhur/client/spectral_start.hpp"

namespace fedhur::client {
void declare_settings(Settings& settings, LocalTrainingConfig& config) {
  declare_common_settings(settings, config);
  settings.add("train.loss", config.loss,
               "of a triple (a user p, an item e it has, one it has not): `elementwise` draws "
               "every coordinate of p * e to 1 or 0, `dot_mse` their inner product; `bce` is the "
               "logistic loss of both inner products, `bpr` that of their difference");
  declare_resample(settings, config.resample);
}

LocalTraining::LocalTraining(const LocalTrainingConfig& config, ClientContext context)
    : config_(config),
      context_(std::move(context)),
      user_optimizer_(context_.train.num_users(), config.embedding_dim),
      item_optimizer_(context_.num_items, config.embedding_dim) {
  model_.user_vectors =
      normal_matrix(context_.train.num_users(), config.embedding_dim, config.init_std,
                    context_.rng.stream(Draw::user_init, context_.id));
  model_.item_embeddings =
      std::make_shared<const Matrix>(Matrix::Zero(context_.num_items, config.embedding_dim));
}

void LocalTraining::draw_item_embeddings() {
  model_.item_embeddings = std::make_shared<const Matrix>(
      normal_matrix(context_.num_items, config_.embedding_dim, config_.init_std,
                    context_.rng.stream(Draw::item_init, index_of(context_.id) + 1)));
}

void LocalTraining::set_item_embeddings(Shared<Matrix> embeddings) {
  expects(embeddings->rows() == num_items() && embeddings->cols() == config_.embedding_dim,
          "item embeddings have the model's shape");
  model_.item_embeddings = std::move(embeddings);
}

bool LocalTraining::answer_start(const message::Message& request, message::Message& reply) {
  if (request.kind != "start") {
    return answer_spectral_start(request, context_.train, num_items(), reply);
  }
  ModelStart start = read_start(request, context_.train, num_items(), config_.embedding_dim);
  set_item_embeddings(std::move(start.item_embeddings));
  if (start.user_vectors) model_.user_vectors = std::move(*start.user_vectors);
  return true;
}

TrainingLoss LocalTraining::train(Round round, Matrix* touched) {
  // The item table is not shared until the round is over.
  Matrix item_embeddings = *model_.item_embeddings;
  linalg::RowGradient user_gradient(model_.num_users(), config_.embedding_dim);
  linalg::RowGradient item_gradient(model_.num_items(), config_.embedding_dim);
  const auto step = [&](std::span<const model::Triple> batch, Real rate) {
    const double loss =
        model::add_batch_gradient(model_.user_vectors, item_embeddings, batch, config_.loss,
                                  config_.weight_decay, user_gradient, item_gradient);
    user_optimizer_.step(model_.user_vectors, user_gradient, rate);
    item_optimizer_.step(item_embeddings, item_gradient, rate);
    if (touched != nullptr) {
      for (const std::int32_t item : item_gradient.touched()) (*touched)(item, 0) = 1.0F;
    }
    user_gradient.clear();
    item_gradient.clear();
    return loss;
  };
  const TrainingLoss loss = train_on_triples({.batch_size = config_.batch_size,
                                              .local_epochs = config_.local_epochs,
                                              .resample = config_.resample,
                                              .rate = rate_in_round(config_, round)},
                                             context_, round, step);
  model_.item_embeddings = std::make_shared<const Matrix>(std::move(item_embeddings));
  return loss;
}

PrivateState LocalTraining::model() const { return to_state(model_); }

PrivateState LocalTraining::save() const {
  PrivateState state = model();
  linalg::save_adam(state, "user", user_optimizer_);
  linalg::save_adam(state, "item", item_optimizer_);
  return state;
}

void LocalTraining::restore(const PrivateState& state) {
  model_.user_vectors = state.matrix("user_vectors");
  set_item_embeddings(state.shared_matrix("item_embeddings"));
  linalg::restore_adam(state, "user", user_optimizer_);
  linalg::restore_adam(state, "item", item_optimizer_);
}
}  // namespace fedhur::client
