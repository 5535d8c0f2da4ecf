// FedRAP: an item is the sum of what all clients share and of what one client keeps; a schedule
// decides how hard the two are pushed apart and how sparse the shared part is.
#include <cmath>

#include "fedhur/base/random_matrix.hpp"
#include "fedhur/client/pointwise_training.hpp"
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
  UploadLimits limits;
  client::UploadConfig upload;
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
  read_norm_cap(table, config.limits);
  read_settings(table, config.upload);
}

class FedRapTraining : public client::Training {
 public:
  FedRapTraining(const FedRapConfig& config, client::ClientContext context)
      : config_(config),
        context_(std::move(context)),
        model_(client::draw_heads(config.training, config.head, context_)),
        personal_(normal_matrix(context_.num_items, config.training.embedding_dim,
                                config.training.init_std,
                                private_stream(config.training, context_, Draw::item_init))),
        shared_(model_.item_embeddings),
        head_optimizer_(config.training, model_.heads.rows(), model_.heads.cols()),
        personal_optimizer_(config.training, personal_.rows(), personal_.cols()),
        shared_optimizer_(config.training, personal_.rows(), personal_.cols()) {
    add_tables();
  }

  [[nodiscard]] const Shared<Matrix>& shared() const { return shared_; }
  void set_shared(Shared<Matrix> shared) {
    shared_ = std::move(shared);
    add_tables();
  }

  client::TrainingLoss train(Round round) {
    head_optimizer_.begin_round();
    personal_optimizer_.begin_round();
    shared_optimizer_.begin_round();
    linalg::RowGradient of_heads(model_.heads.rows(), model_.heads.cols());
    linalg::RowGradient of_personal(personal_.rows(), personal_.cols());
    linalg::RowGradient of_shared(personal_.rows(), personal_.cols());
    Matrix shared = *shared_;
    const double strength = strength_in_round(config_.schedule, round);
    const model::AdditiveLoss loss = {.apart = strength * config_.loss.apart,
                                      .sparse = strength * config_.loss.sparse};
    double decay = 1.0;  // of sgd_original
    const auto step = [&](std::span<const model::LabelledPair> batch, Real rate) {
      const double sum = model::add_additive_gradients(model_.heads, personal_, shared, batch, loss,
                                                       of_heads, of_personal, of_shared);
      const Rates rates = rates_of(rate, decay);
      head_optimizer_.step(model_.heads, of_heads, rates.heads);
      personal_optimizer_.step(personal_, of_personal, rates.tables);
      shared_optimizer_.step(shared, of_shared, rates.tables);
      of_heads.clear();
      of_personal.clear();
      of_shared.clear();
      decay *= static_cast<double>(config_.batch_decay);
      return sum;
    };
    const client::TrainingLoss total = train_pointwise(config_.training, context_, round, step);
    set_shared(std::make_shared<const Matrix>(std::move(shared)));
    return total;
  }

  [[nodiscard]] const model::Recommender& recommender() const override { return model_; }
  [[nodiscard]] PrivateState model() const override { return client::to_state(model_); }
  [[nodiscard]] PrivateState save() const override {
    PrivateState state("linear_heads");
    state.set("heads", model_.heads);
    head_optimizer_.save(state, "head");
    state.set("personal", personal_);
    state.set("shared", Array(shared_));
    personal_optimizer_.save(state, "personal");
    shared_optimizer_.save(state, "shared");
    return state;
  }
  void restore(const PrivateState& state) override {
    model_.heads = state.matrix("heads");
    head_optimizer_.restore(state, "head");
    personal_ = state.matrix("personal");
    personal_optimizer_.restore(state, "personal");
    shared_optimizer_.restore(state, "shared");
    set_shared(state.shared_matrix("shared"));
  }

 private:
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

  void add_tables() {
    model_.item_embeddings = std::make_shared<const Matrix>(personal_ + *shared_);
  }

  FedRapConfig config_;
  client::ClientContext context_;
  model::LinearHeads model_;
  Matrix personal_;        // D_k, which never leaves
  Shared<Matrix> shared_;  // C_k
  client::PointwiseOptimizer head_optimizer_;
  client::PointwiseOptimizer personal_optimizer_;
  client::PointwiseOptimizer shared_optimizer_;
};

class FedRapClient : public client::Client {
 public:
  FedRapClient(const FedRapConfig& config, const client::ClientContext& context)
      : training_(config, context), upload_(config.upload, context) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    if (request.kind == "train") {
      put_loss(reply, training_.train(request.round));
      upload_.put(training_.shared(), reply);
    } else if (request.kind == "update") {
      const Matrix& shared = *training_.shared();
      training_.set_shared(
          request.arrays.finite_matrix("item_embeddings", shared.rows(), shared.cols()));
    } else {
      client::refuse(request);
    }
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return training_; }
  FedRapTraining training_;
  client::UploadStage upload_;
};

class FedRapServer : public AveragingServer {
 public:
  FedRapServer(const FedRapConfig& config, const ServerContext& context)
      : AveragingServer({.embedding_dim = config.training.embedding_dim,
                         .init_std = config.training.init_std,
                         .weights = AverageWeights::uniform,
                         .limits = config.limits},
                        context) {}
};
}  // namespace

Method make_fedrap() {
  return describe_method<FedRapConfig, FedRapServer, FedRapClient>(
      "fedrap", "items as the sum of shared and personal embeddings, the shared ones averaged");
}
}  // namespace fedhur::methods
