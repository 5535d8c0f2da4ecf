#include "fedhur/client/local_training.hpp"

#include <algorithm>

#include "fedhur/base/error.hpp"
#include "fedhur/base/random_matrix.hpp"

namespace fedhur::client {
void read_settings(ConfigTable& table, LocalTrainingConfig& config) {
  read_common_settings(table, config);
  ConfigSection train(table, "train");
  train.read("loss", config.loss);
  train.read("resample", config.resample);
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

std::vector<model::Triple> LocalTraining::draw(Round round, Index epoch) const {
  // A set that lasts is drawn from the same stream again, so that there is nothing to save.
  const Round round_key = config_.resample == Resample::once ? 0 : round + 1;
  const Index epoch_key = config_.resample == Resample::epoch ? epoch + 1 : 0;
  return model::draw_triples(context_.train, context_.num_items,
                             context_.rng.stream(Draw::triples, context_.id, round_key, epoch_key));
}

TrainingLoss LocalTraining::train(Round round) {
  TrainingLoss total;
  std::vector<model::Triple> triples;
  Workplace work{.item_embeddings = *model_.item_embeddings,
                 .user_gradient = {model_.num_users(), config_.embedding_dim},
                 .item_gradient = {model_.num_items(), config_.embedding_dim}};
  for (Index epoch = 0; epoch < config_.local_epochs; ++epoch) {
    if (epoch == 0 || config_.resample == Resample::epoch) triples = draw(round, epoch);
    const TrainingLoss loss = train_epoch(triples, round, epoch, work);
    total.sum += loss.sum;
    total.num_samples += loss.num_samples;
  }
  require_finite_loss(total);
  model_.item_embeddings = std::make_shared<const Matrix>(std::move(work.item_embeddings));
  return total;
}

TrainingLoss LocalTraining::train_epoch(std::vector<model::Triple>& triples, Round round,
                                        Index epoch, Workplace& work) {
  const auto batch_size = static_cast<std::size_t>(config_.batch_size);
  if (triples.size() > batch_size) {  // the order within a single batch does not matter
    context_.rng.stream(Draw::batch_order, context_.id, round, epoch)
        .shuffle(std::span<model::Triple>(triples));
  }
  const Real rate = rate_in_round(config_, round);
  TrainingLoss loss;
  for (std::size_t first = 0; first < triples.size(); first += batch_size) {
    const auto batch =
        std::span(triples).subspan(first, std::min(batch_size, triples.size() - first));
    loss.sum +=
        model::add_batch_gradient(model_.user_vectors, work.item_embeddings, batch, config_.loss,
                                  config_.weight_decay, work.user_gradient, work.item_gradient);
    user_optimizer_.step(model_.user_vectors, work.user_gradient, rate);
    item_optimizer_.step(work.item_embeddings, work.item_gradient, rate);
    work.user_gradient.clear();
    work.item_gradient.clear();
  }
  loss.num_samples = static_cast<double>(triples.size());
  return loss;
}

PrivateState LocalTraining::model() const {
  PrivateState state("matrix_factorization");
  state.set("user_vectors", model_.user_vectors);
  state.set("item_embeddings", Array(model_.item_embeddings));
  return state;
}

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
