// FedRAP: an item is the sum of what all clients share and of what one client keeps; a schedule
// decides how hard the two are pushed apart and how sparse the shared part is.
#include <cmath>

#include "fedhur/base/random_matrix.hpp"
#include "fedhur/client/head_training.hpp"
#include "fedhur/methods/averaging.hpp"

namespace fedhur::methods {
namespace {
using client::PrivateState;
using message::Message;

struct FedRapConfig {
  client::PointwiseConfig training = {.batch_size = 2048,
                                      .optimizer_state = client::OptimizerState::persistent,
                                      .stop_tolerance = 1e-4F};
  model::HeadOwner head = model::HeadOwner::user;
  model::AdditiveLoss loss = {.apart = 0.1, .sparse = 0.1};
  client::Schedule schedule = client::Schedule::tanh;
  // With sgd_original, where learning_rate is that of the heads:
  Real table_learning_rate = 200.0F;
  Real batch_decay = 0.95F;  // of all rates within a round
  UploadConfig upload;
  WireConfig wire;
};
void read_settings(ConfigTable& table, FedRapConfig& config) {
  read_settings(table, config.training);
  ConfigSection(table, "model").read("head", config.head);
  ConfigSection train(table, "train");
  train.read("table_learning_rate", config.table_learning_rate);
  train.require(config.table_learning_rate > 0, "table_learning_rate", "a number above 0");
  train.read("batch_decay", config.batch_decay);
  train.require(config.batch_decay > 0 && config.batch_decay <= 1, "batch_decay",
                "a number above 0, at most 1");
  ConfigSection additive(table, "additive");
  additive.read("apart", config.loss.apart);
  additive.require(config.loss.apart >= 0 && std::isfinite(config.loss.apart), "apart",
                   "a number of 0 or more");
  additive.read("sparse", config.loss.sparse);
  additive.require(config.loss.sparse >= 0 && std::isfinite(config.loss.sparse), "sparse",
                   "a number of 0 or more");
  additive.read("schedule", config.schedule);
  read_norm_cap(table, config.upload);
  read_settings(table, config.wire);
}

class FedRapClient : public client::HeadClient {
 public:
  FedRapClient(const FedRapConfig& config, client::ClientContext context)
      : HeadClient(config.training, config.head, std::move(context)),
        config_(config),
        personal_(normal_matrix(this->context().num_items, config.training.embedding_dim,
                                config.training.init_std,
                                private_stream(config.training, this->context(), Draw::item_init))),
        shared_(item_embeddings()),
        personal_optimizer_(config.training, personal_.rows(), personal_.cols()),
        shared_optimizer_(config.training, personal_.rows(), personal_.cols()) {
    add_tables();
  }

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    if (request.kind == "train") {
      put_loss(reply, train(request.round));
      put_item_embeddings(reply, shared_, config_.wire.rank);
    } else if (request.kind == "update") {
      shared_ = request.arrays.finite_matrix("item_embeddings", personal_.rows(), personal_.cols());
      add_tables();
    } else {
      client::refuse(request);
    }
    return reply;
  }

  [[nodiscard]] PrivateState save() const override {
    PrivateState state = HeadClient::save();
    state.set("personal", personal_);
    state.set("shared", Array(shared_));
    personal_optimizer_.save(state, "personal");
    shared_optimizer_.save(state, "shared");
    return state;
  }
  void restore(const PrivateState& state) override {
    HeadClient::restore(state);
    personal_ = state.matrix("personal");
    shared_ = state.shared_matrix("shared");
    personal_optimizer_.restore(state, "personal");
    shared_optimizer_.restore(state, "shared");
    add_tables();
  }

 private:
  client::TrainingLoss train(Round round) {
    head_optimizer().begin_round();
    personal_optimizer_.begin_round();
    shared_optimizer_.begin_round();
    linalg::RowGradient of_heads = head_gradient();
    linalg::RowGradient of_personal = item_gradient();
    linalg::RowGradient of_shared = item_gradient();
    Matrix shared = *shared_;
    const double strength = strength_in_round(config_.schedule, round);
    const model::AdditiveLoss loss = {.apart = strength * config_.loss.apart,
                                      .sparse = strength * config_.loss.sparse};
    double decay = 1.0;  // of sgd_original
    const auto step = [&](std::span<const model::LabelledPair> batch, Real rate) {
      const double sum = model::add_additive_gradients(heads(), personal_, shared, batch, loss,
                                                       of_heads, of_personal, of_shared);
      const Rates rates = rates_of(rate, decay);
      head_optimizer().step(heads(), of_heads, rates.heads);
      personal_optimizer_.step(personal_, of_personal, rates.tables);
      shared_optimizer_.step(shared, of_shared, rates.tables);
      of_heads.clear();
      of_personal.clear();
      of_shared.clear();
      decay *= static_cast<double>(config_.batch_decay);
      return sum;
    };
    const client::TrainingLoss total = train_pointwise(config_.training, context(), round, step);
    shared_ = std::make_shared<const Matrix>(std::move(shared));
    add_tables();
    return total;
  }

  struct Rates {
    Real heads;
    Real tables;
  };
  [[nodiscard]] Rates rates_of(Real rate, double decay) const {
    if (config_.training.optimizer == client::Optimizer::adam) return {rate, rate};
    const double lowered = decay * static_cast<double>(rate / config_.training.learning_rate);
    return {static_cast<Real>(lowered * static_cast<double>(config_.training.learning_rate)),
            static_cast<Real>(lowered * static_cast<double>(config_.table_learning_rate))};
  }

  void add_tables() { set_item_embeddings(std::make_shared<const Matrix>(personal_ + *shared_)); }

  FedRapConfig config_;
  Matrix personal_;        // D_k, which never leaves
  Shared<Matrix> shared_;  // C_k
  client::PointwiseOptimizer personal_optimizer_;
  client::PointwiseOptimizer shared_optimizer_;
};

class FedRapServer : public AveragingServer {
 public:
  FedRapServer(const FedRapConfig& config, const ServerContext& context)
      : AveragingServer({.embedding_dim = config.training.embedding_dim,
                         .init_std = config.training.init_std,
                         .weights = AverageWeights::uniform,
                         .upload = config.upload},
                        context) {}
};
}  // namespace

Method make_fedrap() {
  return describe_method<FedRapConfig, FedRapServer, FedRapClient>(
      "fedrap", "items as the sum of shared and personal embeddings, the shared ones averaged");
}
}  // namespace fedhur::methods
