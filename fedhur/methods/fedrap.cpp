// FedRAP: an item is the sum of what all clients share and of what one client keeps; a schedule
// decides how hard the two are pushed apart and how sparse the shared part is.
#include "fedhur/base/random_matrix.hpp"
#include "fedhur/client/pointwise_training.hpp"
#include "fedhur/methods/averaging.hpp"

namespace fedhur::methods {
namespace {
using client::PrivateState;
using message::Message;

struct FedRapConfig {
  client::PointwiseConfig training = {.init_std = 0.02F,
                                      .learning_rate = 0.03F,
                                      .learning_rate_decay = 0.97F,
                                      .weight_decay = 0.001F,
                                      .batch_size = 65536,
                                      .optimizer_state = client::OptimizerState::persistent,
                                      .stop_tolerance = 1e-4F};
  model::HeadOwner head = model::HeadOwner::user;
  model::AdditiveLoss loss = {.apart = 0.001, .sparse = 0.001};
  client::Schedule schedule = client::Schedule::tanh;
  Real table_learning_rate = 200.0F;
  Real batch_decay = 0.95F;
  server::ServerStepConfig step;
  UploadLimits limits;
  client::UploadConfig upload;
};
void declare_settings(Settings& settings, FedRapConfig& config) {
  declare_settings(settings, config.training);
  client::declare_head(settings, config.head);
  settings.add(
      "train.table_learning_rate", config.table_learning_rate, above(0),
      "of `sgd_original`, whose `learning_rate` is that of the heads: rate of both tables");
  settings.add("train.batch_decay", config.batch_decay, above_to(0, 1),
               "of `sgd_original`: factor on all rates after each batch of a round");
  settings.add("additive.apart", config.loss.apart, at_least(0),
               "how hard the two tables are pushed apart", "lambda");
  settings.add("additive.sparse", config.loss.sparse, at_least(0),
               "how sparse the shared table is kept", "mu");
  settings.add("additive.schedule", config.schedule,
               "of both, rounds t from 0: `tanh` tanh(t/10), `fixed` 1, `sin` (sin(t/10) + 1)/2, "
               "`frac` 1/(t + 1), `square` 1 and 0 in turns of five rounds. The published program "
               "computes a schedule and trains with `fixed`");
  declare_settings(settings, config.step);
  declare_norm_cap(settings, config.limits);
  declare_settings(settings, config.upload);
}

class FedRapTraining : public client::Training {
 public:
  FedRapTraining(const FedRapConfig& config, client::ClientContext context)
      : config_(config),
        context_(std::move(context)),
        heads_(config.training, config.head, context_),
        personal_(normal_matrix(context_.num_items, config.training.embedding_dim,
                                config.training.init_std,
                                private_stream(config.training, context_, Draw::item_init))),
        shared_(heads_.model.item_embeddings),
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
    heads_.optimizer.begin_round();
    personal_optimizer_.begin_round();
    shared_optimizer_.begin_round();
    linalg::RowGradient of_heads = heads_.make_gradient();
    linalg::RowGradient of_personal(personal_.rows(), personal_.cols());
    linalg::RowGradient of_shared(personal_.rows(), personal_.cols());
    Matrix shared = *shared_;
    const double strength = strength_in_round(config_.schedule, round);
    const model::AdditiveLoss loss = {.apart = strength * config_.loss.apart,
                                      .sparse = strength * config_.loss.sparse};
    double decay = 1.0;  // of sgd_original
    const auto step = [&](std::span<const model::LabelledPair> batch, Real rate) {
      const double sum = model::add_additive_gradients(heads_.model.heads, personal_, shared, batch,
                                                       loss, of_heads, of_personal, of_shared);
      const Rates rates = rates_of(rate, decay);
      heads_.optimizer.step(heads_.model.heads, of_heads, rates.heads);
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

  [[nodiscard]] const model::Recommender& recommender() const override { return heads_.model; }
  [[nodiscard]] PrivateState model() const override { return client::to_state(heads_.model); }
  [[nodiscard]] PrivateState save() const override {
    PrivateState state = heads_.save();
    state.set("personal", personal_);
    state.set("shared", Array(shared_));
    personal_optimizer_.save(state, "personal");
    shared_optimizer_.save(state, "shared");
    return state;
  }
  void restore(const PrivateState& state) override {
    heads_.restore(state);
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
    heads_.model.item_embeddings = std::make_shared<const Matrix>(personal_ + *shared_);
  }

  FedRapConfig config_;
  client::ClientContext context_;
  client::Heads heads_;
  Matrix personal_;        // D_k, which never leaves
  Shared<Matrix> shared_;  // C_k
  client::PointwiseOptimizer personal_optimizer_;
  client::PointwiseOptimizer shared_optimizer_;
};

class FedRapClient : public client::Client {
 public:
  FedRapClient(const FedRapConfig& config, const client::ClientContext& context)
      : training_(config, context), waiting_(config.upload, context) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    if (request.kind == "train") {
      put_loss(reply, training_.train(request.round));
      waiting_.offer_items(training_.shared(), reply);
    } else if (request.kind == "update") {
      const Matrix& shared = *training_.shared();
      training_.set_shared(
          request.arrays.finite_matrix("item_embeddings", shared.rows(), shared.cols()));
    } else if (!waiting_.answer(request, reply)) {
      client::refuse(request);
    }
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return training_; }
  FedRapTraining training_;
  WaitingUpload waiting_;
};

class FedRapServer : public AveragingServer {
 public:
  FedRapServer(const FedRapConfig& config, const ServerContext& context)
      : AveragingServer({.embedding_dim = config.training.embedding_dim,
                         .init_std = config.training.init_std,
                         .rules = {.limits = config.limits},
                         .step = config.step},
                        context) {}
};
}  // namespace

Method make_fedrap() {
  return describe_method<FedRapConfig, FedRapServer, FedRapClient>(
      "fedrap", "items as the sum of shared and personal embeddings, the shared ones averaged");
}
}  // namespace fedhur::methods
