// FedCA: every client receives a mixture of all item tables of its own, weighed by data size, by
// how alike the tables are, and by how the spaces of the training samples complement each other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fedhur/base/random_matrix.hpp"
#include "fedhur/client/pointwise_training.hpp"
#include "fedhur/client/spectral_start.hpp"
#include "fedhur/linalg/principal.hpp"
#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/methods/model_start.hpp"
#include "fedhur/methods/uploads.hpp"
#include "fedhur/model/matrix_factorization.hpp"
#include "fedhur/server/composite_weights.hpp"
#include "fedhur/server/relation_summary.hpp"

namespace fedhur::methods {
namespace {
using client::PointwiseConfig;
using client::PrivateState;
using federation::Answer;
using message::Message;

struct FedCaConfig {
  PointwiseConfig training = {.embedding_dim = 16,
                              .init_std = 0.02F,
                              .weight_decay = 3e-4F,
                              .batch_size = 256,
                              .local_epochs = 5,
                              .stop_tolerance = 1e-4F};
  server::CompositeConfig weights = {.similarity_weight = 0.5F, .closeness_weight = 0.1F};
  Index principal_directions = 4;  // kappa
  double participation = 1.0;      // r
  Real own_share = 0.1F;           // eta
  StartConfig start;
  UploadLimits limits;
  client::UploadConfig upload;
};

void declare_settings(Settings& settings, FedCaConfig& config) {
  declare_settings(settings, config.training);
  settings.note("train.optimizer", "it has to be `adam`");
  settings.require(config.training.optimizer == client::Optimizer::adam, "train.optimizer",
                   "adam, with which this method was published");
  settings.add("aggregation.similarity_weight", config.weights.similarity_weight, at_least(0),
               "of sim, how alike two tables are", "beta");
  settings.add("aggregation.closeness_weight", config.weights.closeness_weight, at_least(0),
               "of c, how far two clients train on the same directions", "alpha");
  settings.add("aggregation.favoured", config.weights.favoured,
               "`complementary` (-1): clients whose samples span another space; `alike` (+1): the "
               "same one, as the published code",
               "chi");
  settings.add("aggregation.principal_directions", config.principal_directions, at_least(1),
               "of a client's training samples; upload kappa d numbers more", "kappa");
  settings.add("aggregation.participation", config.participation, above_to(0, 1),
               "share of the clients that train and mix in a round; the others keep what they "
               "have. 0.1 in the publication, whose clients are single users",
               "r");
  settings.add("aggregation.own_share", config.own_share, between(0, 1),
               "what a client keeps of its own table; 0.9 in the publication", "eta");
  declare_settings(settings, config.start);
  declare_norm_cap(settings, config.limits);
  declare_size_cap(settings, config.limits);
  declare_settings(settings, config.upload);
}

class FedCaTraining : public client::Training {
 public:
  FedCaTraining(const FedCaConfig& config, client::ClientContext context)
      : config_(config),
        context_(std::move(context)),
        user_optimizer_(config.training, context_.train.num_users(), dim()),
        item_optimizer_(config.training, context_.num_items, dim()) {
    model_.user_vectors = client::draw_private_rows(
        config.training, context_, Draw::user_init, context_.train.num_users(),
        [&](Index num_rows, const Rng& rng) {
          return normal_matrix(num_rows, dim(), config.training.init_std, rng);
        });
    model_.item_embeddings =
        std::make_shared<const Matrix>(Matrix::Zero(context_.num_items, dim()));
  }

  [[nodiscard]] Index dim() const { return config_.training.embedding_dim; }
  [[nodiscard]] const client::ClientContext& context() const { return context_; }
  [[nodiscard]] const Shared<Matrix>& item_embeddings() const { return model_.item_embeddings; }
  void begin(client::ModelStart start) {
    model_.item_embeddings = std::move(start.item_embeddings);
    if (start.user_vectors) model_.user_vectors = std::move(*start.user_vectors);
  }

  // Counts how often each item is trained on, in all epochs: its share is that of one epoch.
  client::TrainingLoss train(Round round, Eigen::VectorXd& occurrences) {
    user_optimizer_.begin_round();
    item_optimizer_.begin_round();
    Matrix items = *model_.item_embeddings;
    linalg::RowGradient user_gradient(model_.num_users(), dim());
    linalg::RowGradient item_gradient(model_.num_items(), dim());
    const auto step = [&](std::span<const model::LabelledPair> batch, Real rate) {
      for (const auto& pair : batch) occurrences(pair.item) += 1.0;
      const double loss = model::add_batch_gradient(model_.user_vectors, items, batch,
                                                    user_gradient, item_gradient);
      user_optimizer_.step(model_.user_vectors, user_gradient, rate);
      item_optimizer_.step(items, item_gradient, rate);
      user_gradient.clear();
      item_gradient.clear();
      return loss;
    };
    const auto loss = client::train_pointwise(config_.training, context_, round, step);
    model_.item_embeddings = std::make_shared<const Matrix>(std::move(items));
    return loss;
  }

  // The leading principal directions of the embeddings it trained on, negatives included, a
  // direction per row; fewer where so few items span no more.
  [[nodiscard]] Matrix sample_basis(const Eigen::VectorXd& occurrences) const {
    const Index num_sampled = (occurrences.array() > 0.0).count();
    const Index kappa = std::min({config_.principal_directions, dim(), num_sampled - 1});
    if (kappa < 1) return Matrix(0, dim());
    return linalg::principal_directions(*model_.item_embeddings, occurrences, kappa)
        .transpose()
        .cast<Real>();
  }

  void mix(const Matrix& mixture) {
    const Real eta = config_.own_share;
    model_.item_embeddings =
        std::make_shared<const Matrix>(eta * *model_.item_embeddings + (1 - eta) * mixture);
  }

  [[nodiscard]] const model::Recommender& recommender() const override { return model_; }
  [[nodiscard]] PrivateState model() const override { return client::to_state(model_); }
  [[nodiscard]] PrivateState save() const override {
    PrivateState state = model();
    user_optimizer_.save(state, "user");
    item_optimizer_.save(state, "item");
    return state;
  }
  void restore(const PrivateState& state) override {
    model_.user_vectors = state.matrix("user_vectors");
    model_.item_embeddings = state.shared_matrix("item_embeddings");
    user_optimizer_.restore(state, "user");
    item_optimizer_.restore(state, "item");
  }

 private:
  FedCaConfig config_;
  client::ClientContext context_;
  model::MatrixFactorization model_;
  client::PointwiseOptimizer user_optimizer_;
  client::PointwiseOptimizer item_optimizer_;
};

class FedCaClient : public client::Client {
 public:
  FedCaClient(const FedCaConfig& config, const client::ClientContext& context)
      : training_(config, context), upload_(config.upload, context) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    const client::ClientContext& context = training_.context();
    if (request.kind == "start") {
      training_.begin(
          client::read_start(request, context.train, context.num_items, training_.dim()));
    } else if (request.kind == "train") {
      Eigen::VectorXd occurrences = Eigen::VectorXd::Zero(context.num_items);
      put_loss(reply, training_.train(request.round, occurrences));
      upload_.prepare(training_.item_embeddings(), request.round).put(reply);
      reply.arrays.set("sample_basis", training_.sample_basis(occurrences));
      reply.arrays.set_number("num_interactions", static_cast<double>(context.train.size()));
    } else if (request.kind == "mix") {
      training_.mix(*request.arrays.finite_matrix("mixture", context.num_items, training_.dim()));
    } else if (!client::answer_spectral_start(request, context.train, context.num_items, reply)) {
      client::refuse(request);
    }
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return training_; }
  FedCaTraining training_;
  client::UploadStage upload_;
};

// At most `most` independent directions of that length; none is allowed. Leading ones are
// independent on their own as well, up to rounding: all bases are cut to the shortest.
void check_sample_basis(const NamedArrays& upload, Index most, Index dim) {
  constexpr const char* kName = "sample_basis";
  const Matrix& basis = upload.matrix(kName);
  if (basis.rows() > most) {
    throw ProtocolError(
        fmt::format("'{}' has {} rows, expected at most {}", kName, basis.rows(), most));
  }
  check_table(upload, kName, basis.rows(), dim);
  for (Index rows = 1; rows <= basis.rows(); ++rows) {
    if (linalg::exact_basis(basis.topRows(rows).transpose()).cols() < rows) {
      throw ProtocolError(fmt::format("'{}' has rows that depend on each other", kName));
    }
  }
}

// There is nothing to save: every client holds its own table and starts the next round from it.
class FedCaServer : public federation::ServerMethod {
 public:
  FedCaServer(const FedCaConfig& config, const ServerContext& context)
      : config_(config), context_(context) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    federation::RoundNotes notes;
    if (round == 0) {
      send_start(config_.start, context_, config_.training.embedding_dim, config_.training.init_std,
                 federation);
      if (config_.start.fills_round()) return notes;
    }

    const auto answers = ask_participants(round, federation);
    notes.loss = mean_loss(answers);

    const Executor& executor = *context_.executor;
    const UploadReader reader(answers, config_.limits, executor, notes);
    const server::Uploads tables =
        reader.item_embeddings(context_.num_items, config_.training.embedding_dim);
    const std::vector<double> data_sizes = reader.data_sizes();
    const MatrixOf<double> weights = server::weigh_composite(
        Eigen::Map<const Eigen::VectorXd>(data_sizes.data(), std::ssize(data_sizes)),
        server::score_table_similarity(tables, executor),
        server::score_closeness(sample_bases(answers), executor), config_.weights);
    notes.numbers["own_weight"] = weights.diagonal().mean();
    notes.numbers["candidates"] =
        static_cast<double>((weights.array() > 0.0).count()) / static_cast<double>(weights.rows());
    // Weights among some of the clients are not those of the federation.
    if (weights.rows() == context_.num_clients) {
      server::put_summary(notes.inside, server::summarize_weights(weights));
    }
    send_mixtures(clients_of(answers), server::mix_tables(tables, weights, executor), round,
                  federation);
    return notes;
  }

 private:
  // Only they train, and only they receive something.
  [[nodiscard]] std::vector<Answer> ask_participants(Round round,
                                                     federation::Federation& federation) const {
    std::vector<ClientId> clients = all_clients(federation);
    // Not 28 for 0.29 of 100: the product is a little below 29.
    constexpr double kRounding = 1e-9;
    const double wanted = config_.participation * static_cast<double>(context_.num_clients);
    const Index count = std::max<Index>(1, static_cast<Index>(std::floor(wanted + kRounding)));
    if (count < context_.num_clients) {
      context_.rng.stream(Draw::participants, round).shuffle(std::span<ClientId>(clients));
      clients.resize(static_cast<std::size_t>(count));
      std::ranges::sort(clients);
    }
    return ask_to_train(federation, clients, {.kind = "train", .round = round, .arrays = {}},
                        [num_items = context_.num_items, dim = config_.training.embedding_dim,
                         most = config_.principal_directions](const NamedArrays& upload) {
                          check_item_embeddings(upload, num_items, dim);
                          check_sample_basis(upload, most, dim);
                          check_data_size(upload);
                        });
  }

  static server::Uploads sample_bases(const std::vector<Answer>& answers) {
    server::Uploads bases;
    for (const Answer& answer : answers) {
      bases.push_back(answer.message.arrays.shared_matrix("sample_basis"));
    }
    return bases;
  }

  static void send_mixtures(const std::vector<ClientId>& clients, std::vector<Matrix> mixtures,
                            Round round, federation::Federation& federation) {
    const Message mix{.kind = "mix", .round = round, .arrays = {}};
    federation.tell(requests_for(clients, mix, [&](std::size_t k, NamedArrays& arrays) {
      arrays.set("mixture", std::move(mixtures[k]));
    }));
  }

  FedCaConfig config_;
  ServerContext context_;
};
}  // namespace

Method make_fedca() {
  return describe_method<FedCaConfig, FedCaServer, FedCaClient>(
      "fedca", "item tables mixed for every client by similarity and complementarity");
}
}  // namespace fedhur::methods
