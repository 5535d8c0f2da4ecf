// PFedRec: every user has a linear score function that never leaves, every client fine-tunes the
// averaged item embeddings and recommends with what came of it.
#include "fedhur/client/pointwise_training.hpp"
#include "fedhur/client/spectral_start.hpp"
#include "fedhur/methods/averaging.hpp"

namespace fedhur::methods {
namespace {
using client::PrivateState;
using message::Message;

struct PFedRecConfig {
  client::PointwiseConfig training = {.learning_rate = 0.03F,
                                      .learning_rate_decay = 0.95F,
                                      .weight_decay = 1e-4F,
                                      .batch_size = 256,
                                      .local_epochs = 3,
                                      .optimizer_state = client::OptimizerState::persistent};
  model::HeadOwner head = model::HeadOwner::user;
  Real item_rate = 80.0F;  // eta
  AverageWeights weights = AverageWeights::uniform;
  StartConfig start;
  server::ServerStepConfig step;
  UploadLimits limits;
  client::UploadConfig upload;
};
void declare_settings(Settings& settings, PFedRecConfig& config) {
  declare_settings(settings, config.training);
  client::declare_head(settings, config.head);
  settings.add("train.item_rate", config.item_rate, above(0),
               "of `sgd_original`: items learn n eta times as fast as heads", "eta");
  settings.add("average.weights", config.weights,
               "`data`: by interactions, whose number is then uploaded");
  declare_settings(settings, config.start);
  declare_settings(settings, config.step);
  declare_norm_cap(settings, config.limits);
  declare_size_cap(settings, config.limits);
  declare_settings(settings, config.upload);
}

class PFedRecTraining : public client::Training {
 public:
  PFedRecTraining(const PFedRecConfig& config, client::ClientContext context)
      : config_(config),
        context_(std::move(context)),
        heads_(config.training, config.head, context_),
        item_optimizer_(config.training, context_.num_items, config.training.embedding_dim) {}

  [[nodiscard]] const client::ClientContext& context() const { return context_; }
  [[nodiscard]] const Shared<Matrix>& item_embeddings() const {
    return heads_.model.item_embeddings;
  }

  void begin(const client::ModelStart& start) {
    heads_.model.item_embeddings = start.item_embeddings;
    if (start.user_vectors) heads_.begin_at(*start.user_vectors);
  }

  // Every batch moves the heads first, and then the items with these new heads.
  client::TrainingLoss train(Round round, Matrix items) {
    heads_.optimizer.begin_round();
    item_optimizer_.begin_round();
    linalg::RowGradient of_heads = heads_.make_gradient();
    linalg::RowGradient of_items(items.rows(), items.cols());
    const auto step = [&](std::span<const model::LabelledPair> batch, Real rate) {
      const double loss =
          model::add_head_gradients(heads_.model.heads, items, batch, &of_heads, nullptr);
      heads_.optimizer.step(heads_.model.heads, of_heads, rate);
      of_heads.clear();
      (void)model::add_head_gradients(heads_.model.heads, items, batch, nullptr, &of_items);
      item_optimizer_.step(items, of_items, rate * item_rate());
      of_items.clear();
      return loss;
    };
    const client::TrainingLoss loss = train_pointwise(config_.training, context_, round, step);
    heads_.model.item_embeddings = std::make_shared<const Matrix>(std::move(items));
    return loss;
  }

  [[nodiscard]] const model::Recommender& recommender() const override { return heads_.model; }
  [[nodiscard]] PrivateState model() const override { return client::to_state(heads_.model); }
  [[nodiscard]] PrivateState save() const override {
    PrivateState state = heads_.save();
    state.set("item_embeddings", Array(heads_.model.item_embeddings));
    item_optimizer_.save(state, "item");
    return state;
  }
  void restore(const PrivateState& state) override {
    heads_.restore(state);
    heads_.model.item_embeddings = state.shared_matrix("item_embeddings");
    item_optimizer_.restore(state, "item");
  }

 private:
  // A mean over the batch moves one of n rows by little; Adam does not mind, plain descent does.
  [[nodiscard]] Real item_rate() const {
    if (config_.training.optimizer == client::Optimizer::adam) return 1;
    return config_.item_rate * static_cast<Real>(context_.num_items);
  }

  PFedRecConfig config_;
  client::ClientContext context_;
  client::Heads heads_;
  client::PointwiseOptimizer item_optimizer_;
};

class PFedRecClient : public client::Client {
 public:
  PFedRecClient(const PFedRecConfig& config, const client::ClientContext& context)
      : config_(config), training_(config, context), waiting_(config.upload, context) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    const client::ClientContext& context = training_.context();
    const Index dim = config_.training.embedding_dim;
    if (request.kind == "train") {
      put_loss(reply,
               training_.train(request.round, *request.arrays.finite_matrix(
                                                  "item_embeddings", context.num_items, dim)));
      waiting_.offer_items(training_.item_embeddings(), reply);
      if (config_.weights == AverageWeights::data) {
        reply.arrays.set_number("num_interactions", static_cast<double>(context.train.size()));
      }
    } else if (request.kind == "start") {
      training_.begin(client::read_start(request, context.train, context.num_items, dim));
    } else if (!waiting_.answer(request, reply) &&
               !client::answer_spectral_start(request, context.train, context.num_items, reply)) {
      client::refuse(request);
    }
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return training_; }
  PFedRecConfig config_;
  PFedRecTraining training_;
  WaitingUpload waiting_;
};

// The average goes down with "train", so that clients recommend with what they trained until the
// next round begins.
class PFedRecServer : public federation::ServerMethod {
 public:
  PFedRecServer(const PFedRecConfig& config, const ServerContext& context)
      : config_({.embedding_dim = config.training.embedding_dim,
                 .init_std = config.training.init_std,
                 .rules = {.weights = config.weights, .limits = config.limits},
                 .start = config.start,
                 .step = config.step}),
        context_(context),
        step_(config.step),
        item_embeddings_(draw_item_embeddings(context, config_.embedding_dim, config_.init_std)) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    federation::RoundNotes notes;
    if (round == 0 && config_.start.fills_round()) {
      item_embeddings_ =
          *send_start(config_.start, context_, config_.embedding_dim, config_.init_std, federation);
      return notes;
    }
    Message request{.kind = "train", .round = round, .arrays = {}};
    request.arrays.set("item_embeddings", item_embeddings_);
    std::vector<Matrix> averages =
        train_and_average(config_.rules, context_, std::move(request),
                          {{.name = "item", .present = &item_embeddings_}}, federation, notes);
    step_.take(item_embeddings_, std::move(averages.front()));
    return notes;
  }

  [[nodiscard]] NamedArrays save() const override {
    NamedArrays state;
    state.set("item_embeddings", item_embeddings_);
    step_.save(state, "item_embeddings", item_embeddings_);
    return state;
  }
  void restore(const NamedArrays& state) override {
    item_embeddings_ =
        *state.shaped_matrix("item_embeddings", context_.num_items, config_.embedding_dim);
    step_.restore(state, "item_embeddings", item_embeddings_);
  }

 private:
  AveragingConfig config_;
  ServerContext context_;
  server::ServerStep step_;
  Matrix item_embeddings_;
};
}  // namespace

Method make_pfedrec() {
  return describe_method<PFedRecConfig, PFedRecServer, PFedRecClient>(
      "pfedrec", "a private score function per user, item embeddings averaged and fine-tuned");
}
}  // namespace fedhur::methods
