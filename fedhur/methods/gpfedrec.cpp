// GPFedRec: every client trains item embeddings and a private score network; the server joins the
// clients that are alike in a graph, and averages for each over its neighbours.
#include <algorithm>

#include "fedhur/base/random_matrix.hpp"
#include "fedhur/client/neural_training.hpp"
#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/methods/uploads.hpp"
#include "fedhur/server/relation_summary.hpp"
#include "fedhur/server/similarity_graph.hpp"

namespace fedhur::methods {
namespace {
using client::PointwiseConfig;
using client::PrivateState;
using message::Message;
using model::LabelledPair;
using model::NeuralParameters;

struct GpFedRecConfig {
  PointwiseConfig training = {.learning_rate = 0.01F, .batch_size = 4096};
  std::vector<Index> hidden;    // H; see widths_of()
  Real anchor_strength = 1.0F;  // lambda
  Real item_rate = 80.0F;       // eta; see rates()
  server::SimilarityGraphConfig graph;
  UploadLimits limits;
  client::UploadConfig upload;
};

void declare_settings(Settings& settings, GpFedRecConfig& config) {
  declare_settings(settings, config.training);
  settings.note(
      "train.optimizer",
      "the rates are lr for the network, lr (eta - 1) for users, lr (n eta - 1) for items");
  settings.add("model.hidden", config.hidden, between(1, 4096), {.least = 0, .most = 16},
               "widths of the hidden layers; none: d, d/2, d/4", "H");
  settings.add("train.anchor_strength", config.anchor_strength, at_least(0),
               "of the pull towards R_k", "lambda");
  settings.add("train.item_rate", config.item_rate, above(1), "of `sgd_original`", "eta");
  declare_noise(settings, config.upload);
  declare_settings(settings, config.graph);
  declare_norm_cap(settings, config.limits);
  declare_settings(settings, config.upload);
}

std::vector<Index> widths_of(const GpFedRecConfig& config) {
  if (!config.hidden.empty()) return config.hidden;
  const Index dim = config.training.embedding_dim;
  return {dim, std::max<Index>(1, dim / 2), std::max<Index>(1, dim / 4)};
}

// Vectors and network of its own, or (identical) those that all start with; no item embeddings
// until the server sends some.
NeuralParameters draw_start(const GpFedRecConfig& config, const client::ClientContext& context) {
  const PointwiseConfig& training = config.training;
  const Index dim = training.embedding_dim;
  const Index num_users = context.train.num_users();
  model::NeuralWeights weights = model::draw_weights(
      dim, 0, widths_of(config), client::private_stream(training, context, Draw::layer_init));
  return {.user_vectors = client::draw_private_rows(training, context, Draw::user_init, num_users,
                                                    [&](Index rows, const Rng& rng) {
                                                      return normal_matrix(rows, dim,
                                                                           training.init_std, rng);
                                                    }),
          .gmf_user_vectors = Matrix(num_users, 0),
          .item_embeddings = Matrix::Zero(context.num_items, dim),
          .gmf_item_embeddings = Matrix(context.num_items, 0),
          .gmf_weights = std::move(weights.gmf_weights),
          .network = std::move(weights.network)};
}

// It recommends with the embeddings that it trained. What the server made of all clients' is where
// the next round starts (G) and what it is pulled towards (R_k).
class GpFedRecTraining : public client::Training {
 public:
  GpFedRecTraining(const GpFedRecConfig& config, client::ClientContext context)
      : config_(config),
        context_(std::move(context)),
        neural_(config.training, draw_start(config, context_)),
        global_(item_embeddings()),
        personalized_(global_) {}

  [[nodiscard]] Shared<Matrix> item_embeddings() {
    return std::make_shared<const Matrix>(neural_.parameters().item_embeddings);
  }
  void set_tables(Shared<Matrix> global, Shared<Matrix> personalized) {
    global_ = std::move(global);
    personalized_ = std::move(personalized);
  }

  client::TrainingLoss train(Round round) {
    NeuralParameters& parameters = neural_.parameters();
    neural_.begin_round();
    parameters.item_embeddings = *global_;
    model::NeuralGradient gradient = make_gradient(parameters);
    const auto take_step = [&](std::span<const LabelledPair> batch, Real rate) {
      const double sum = add_batch_gradient(parameters, batch, gradient);
      const double pull =
          client::add_anchor_gradient(parameters.item_embeddings, *personalized_,
                                      config_.anchor_strength, gradient.item_embeddings);
      neural_.step(gradient, rates(rate));
      return sum + pull * static_cast<double>(batch.size());
    };
    return train_pointwise(config_.training, context_, round, take_step);
  }

  [[nodiscard]] const model::Recommender& recommender() const override {
    return neural_.recommender();
  }
  [[nodiscard]] PrivateState model() const override { return neural_.model(); }
  [[nodiscard]] PrivateState save() const override {
    PrivateState state = neural_.save();
    state.set("global_item_embeddings", Array(global_));
    state.set("personalized_item_embeddings", Array(personalized_));
    return state;
  }
  void restore(const PrivateState& state) override {
    neural_.restore(state);
    set_tables(state.shared_matrix("global_item_embeddings"),
               state.shared_matrix("personalized_item_embeddings"));
  }

 private:
  [[nodiscard]] client::NeuralTraining::Rates rates(Real rate) const {
    if (config_.training.optimizer == client::Optimizer::adam) return {rate, rate, rate};
    const Real eta = config_.item_rate;
    return {.users = rate * eta - rate,
            .items = rate * static_cast<Real>(context_.num_items) * eta - rate,
            .weights = rate};
  }

  GpFedRecConfig config_;
  client::ClientContext context_;
  client::NeuralTraining neural_;
  Shared<Matrix> global_;
  Shared<Matrix> personalized_;
};

class GpFedRecClient : public client::Client {
 public:
  GpFedRecClient(const GpFedRecConfig& config, const client::ClientContext& context)
      : embedding_dim_(config.training.embedding_dim),
        num_items_(context.num_items),
        training_(config, context),
        upload_(config.upload, context) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    if (request.kind == "start") {
      const Shared<Matrix> start = read(request, "item_embeddings");
      training_.set_tables(start, start);
    } else if (request.kind == "train") {
      put_loss(reply, training_.train(request.round));
      upload_.prepare(training_.item_embeddings(), request.round).put(reply);
    } else if (request.kind == "update") {
      training_.set_tables(read(request, "global_item_embeddings"),
                           read(request, "personalized_item_embeddings"));
    } else {
      client::refuse(request);
    }
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return training_; }
  [[nodiscard]] Shared<Matrix> read(const Message& request, const std::string& name) const {
    return request.arrays.finite_matrix(name, num_items_, embedding_dim_);
  }
  Index embedding_dim_;
  Index num_items_;
  GpFedRecTraining training_;
  client::UploadStage upload_;
};

// There is nothing to save: the clients hold what the next round starts from.
class GpFedRecServer : public federation::ServerMethod {
 public:
  GpFedRecServer(const GpFedRecConfig& config, const ServerContext& context)
      : config_(config), context_(context) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    federation::RoundNotes notes;
    if (round == 0) {
      send_start(context_, config_.training.embedding_dim, config_.training.init_std, federation);
    }

    const Index dim = config_.training.embedding_dim;
    const auto answers =
        ask_to_train(federation, {.kind = "train", .round = round, .arrays = {}},
                     [num_items = context_.num_items, dim](const NamedArrays& upload) {
                       check_item_embeddings(upload, num_items, dim);
                     });
    notes.loss = mean_loss(answers);

    const Executor& executor = *context_.executor;
    const server::Uploads uploads = UploadReader(answers, config_.limits, executor, notes)
                                        .item_embeddings(context_.num_items, dim);
    const MatrixOf<double> weights =
        server::weigh_neighbors(server::cosine_similarities(uploads, executor), config_.graph);
    // Weights among some of the clients are not those of the federation.
    if (weights.rows() == context_.num_clients) {
      server::put_summary(notes.inside, server::summarize_weights(weights));
    }
    const server::Uploads personalized =
        server::average_over_neighbors(uploads, weights, config_.graph.layers, executor);
    notes.numbers["neighbors"] =
        static_cast<double>((weights.array() > 0.0).count()) / static_cast<double>(weights.rows());
    const auto global =
        std::make_shared<const Matrix>(server::average_embeddings(personalized, executor));
    send_tables(round, clients_of(answers), personalized, global, federation);
    return notes;
  }

 private:
  // R_k and G. A client that did not train has no neighbours in this round: its R_k is G, as at the
  // start.
  static void send_tables(Round round, const std::vector<ClientId>& participants,
                          const server::Uploads& personalized, const Shared<Matrix>& global,
                          federation::Federation& federation) {
    server::Uploads own(static_cast<std::size_t>(federation.num_clients()), global);
    for (std::size_t k = 0; k < participants.size(); ++k) {
      own[static_cast<std::size_t>(participants[k])] = personalized[k];
    }
    Message common{.kind = "update", .round = round, .arrays = {}};
    common.arrays.set("global_item_embeddings", Array(global));
    federation.tell(
        requests_for(all_clients(federation), common, [&](std::size_t client, NamedArrays& arrays) {
          arrays.set("personalized_item_embeddings", Array(own[client]));
        }));
  }

  GpFedRecConfig config_;
  ServerContext context_;
};
}  // namespace

Method make_gpfedrec() {
  return describe_method<GpFedRecConfig, GpFedRecServer, GpFedRecClient>(
      "gpfedrec", "item embeddings averaged over similar clients, private score networks");
}
}  // namespace fedhur::methods
