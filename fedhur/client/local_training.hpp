// Local training of matrix factorisation: Eq. (local_training), on the client's own rows.
#pragma once
#include "fedhur/client/client.hpp"
#include "fedhur/client/triple_training.hpp"
#include "fedhur/linalg/adam.hpp"
#include "fedhur/model/matrix_factorization.hpp"

namespace fedhur::client {
struct LocalTrainingConfig {
  Index embedding_dim = 128;  // d
  Real init_std = 0.1F;
  model::MfLoss loss = model::MfLoss::bpr;
  Real learning_rate = 0.03F;
  Real learning_rate_decay = 0.97F;
  Real weight_decay = 0.01F;
  Index batch_size = 4096;
  Index local_epochs = 10;
  Resample resample = Resample::epoch;
};
void declare_settings(Settings& settings, LocalTrainingConfig& config);

// A client's matrix factorisation with its optimiser, which lasts over rounds: replacing the item
// embeddings leaves the moments alone.
class LocalTraining : public Training {
 public:
  LocalTraining(const LocalTrainingConfig& config, ClientContext context);

  // Eq. (local_training). Sets the rows of items that it meets to 1 in a table n x 1, if given.
  TrainingLoss train(Round round, Matrix* touched = nullptr);

  [[nodiscard]] const model::Recommender& recommender() const override { return model_; }
  [[nodiscard]] const Shared<Matrix>& item_embeddings() const { return model_.item_embeddings; }
  void set_item_embeddings(Shared<Matrix> embeddings);
  void draw_item_embeddings();  // this client's own start
  // Answers "start", the item embeddings (and weights to fold the users in with), and what a
  // spectral start asks before; false for any other kind.
  [[nodiscard]] bool answer_start(const message::Message& request, message::Message& reply);
  [[nodiscard]] Index num_interactions() const { return context_.train.size(); }
  [[nodiscard]] Index num_items() const { return context_.num_items; }

  [[nodiscard]] PrivateState model() const override;
  [[nodiscard]] PrivateState save() const override;
  void restore(const PrivateState& state) override;

 private:
  LocalTrainingConfig config_;
  ClientContext context_;
  model::MatrixFactorization model_;
  linalg::Adam user_optimizer_;
  linalg::Adam item_optimizer_;
};
}  // namespace fedhur::client
