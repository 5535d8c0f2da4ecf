// PFedRec: every user has a linear score function that never leaves, every client fine-tunes the
// averaged item embeddings and recommends with what came of it.
#include "fedhur/client/head_training.hpp"
#include "fedhur/methods/averaging.hpp"

namespace fedhur::methods {
namespace {
using client::PrivateState;
using message::Message;

struct PFedRecConfig {
  // At this learning rate few large batches do better than many small ones: docs/settings.md.
  client::PointwiseConfig training = {.learning_rate = 0.1F,
                                      .batch_size = 4096,
                                      .optimizer_state = client::OptimizerState::persistent};
  model::HeadOwner head = model::HeadOwner::user;
  Real item_rate = 80.0F;  // eta; with sgd_original items learn n * eta times as fast as heads
  AverageWeights weights = AverageWeights::uniform;
  UploadConfig upload;
  WireConfig wire;
};
void read_settings(ConfigTable& table, PFedRecConfig& config) {
  read_settings(table, config.training);
  ConfigSection(table, "model").read("head", config.head);
  ConfigSection train(table, "train");
  train.read("item_rate", config.item_rate);
  train.require(config.item_rate > 0, "item_rate", "a number above 0");
  ConfigSection(table, "average").read("weights", config.weights);
  read_norm_cap(table, config.upload);
  read_size_cap(table, config.upload);
  read_settings(table, config.wire);
}

class PFedRecClient : public client::HeadClient {
 public:
  PFedRecClient(const PFedRecConfig& config, client::ClientContext context)
      : HeadClient(config.training, config.head, std::move(context)),
        config_(config),
        item_optimizer_(config.training, this->context().num_items, config.training.embedding_dim) {
  }

  Message answer(const Message& request) override {
    if (request.kind != "train") client::refuse(request);
    Message reply = reply_to(request);
    put_loss(reply, train(request.round,
                          *request.arrays.finite_matrix("item_embeddings", context().num_items,
                                                        config_.training.embedding_dim)));
    put_item_embeddings(reply, item_embeddings(), config_.wire.rank);
    if (config_.weights == AverageWeights::data) {
      reply.arrays.set_number("num_interactions", static_cast<double>(context().train.size()));
    }
    return reply;
  }

  [[nodiscard]] PrivateState save() const override {
    PrivateState state = HeadClient::save();
    state.set("item_embeddings", Array(item_embeddings()));
    item_optimizer_.save(state, "item");
    return state;
  }
  void restore(const PrivateState& state) override {
    HeadClient::restore(state);
    set_item_embeddings(state.shared_matrix("item_embeddings"));
    item_optimizer_.restore(state, "item");
  }

 private:
  // Every batch moves the heads first, and then the items with these new heads.
  client::TrainingLoss train(Round round, Matrix items) {
    head_optimizer().begin_round();
    item_optimizer_.begin_round();
    linalg::RowGradient of_heads = head_gradient();
    linalg::RowGradient of_items = item_gradient();
    const auto step = [&](std::span<const model::LabelledPair> batch, Real rate) {
      const double loss = model::add_head_gradients(heads(), items, batch, &of_heads, nullptr);
      head_optimizer().step(heads(), of_heads, rate);
      of_heads.clear();
      (void)model::add_head_gradients(heads(), items, batch, nullptr, &of_items);
      item_optimizer_.step(items, of_items, rate * item_rate());
      of_items.clear();
      return loss;
    };
    const client::TrainingLoss loss = train_pointwise(config_.training, context(), round, step);
    set_item_embeddings(std::make_shared<const Matrix>(std::move(items)));
    return loss;
  }

  // A mean over the batch moves one of n rows by little; Adam does not mind, plain descent does.
  [[nodiscard]] Real item_rate() const {
    if (config_.training.optimizer == client::Optimizer::adam) return 1;
    return config_.item_rate * static_cast<Real>(context().num_items);
  }

  PFedRecConfig config_;
  client::PointwiseOptimizer item_optimizer_;
};

// A round is one exchange: the average goes down with "train", so that clients recommend with what
// they trained until the next round begins.
class PFedRecServer : public federation::ServerMethod {
 public:
  PFedRecServer(const PFedRecConfig& config, const ServerContext& context)
      : config_({.embedding_dim = config.training.embedding_dim,
                 .init_std = config.training.init_std,
                 .weights = config.weights,
                 .upload = config.upload}),
        context_(context),
        item_embeddings_(draw_item_embeddings(context, config_.embedding_dim, config_.init_std)) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    federation::RoundNotes notes;
    Message request{.kind = "train", .round = round, .arrays = {}};
    request.arrays.set("item_embeddings", item_embeddings_);
    item_embeddings_ = train_and_average(config_, context_, std::move(request), federation, notes);
    return notes;
  }

  [[nodiscard]] NamedArrays save() const override {
    NamedArrays state;
    state.set("item_embeddings", item_embeddings_);
    return state;
  }
  void restore(const NamedArrays& state) override {
    item_embeddings_ =
        *state.shaped_matrix("item_embeddings", context_.num_items, config_.embedding_dim);
  }

 private:
  AveragingConfig config_;
  ServerContext context_;
  Matrix item_embeddings_;
};
}  // namespace

Method make_pfedrec() {
  return describe_method<PFedRecConfig, PFedRecServer, PFedRecClient>(
      "pfedrec", "a private score function per user, item embeddings averaged and fine-tuned");
}
}  // namespace fedhur::methods
