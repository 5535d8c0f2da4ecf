// FedNCF: clients train neural collaborative filtering (NeuMF), the server averages item tables and
// network by data size; both user tables stay private.
#include <utility>

#include "fedhur/base/random_matrix.hpp"
#include "fedhur/client/neural_training.hpp"
#include "fedhur/client/spectral_start.hpp"
#include "fedhur/client/triple_training.hpp"
#include "fedhur/methods/averaging.hpp"

namespace fedhur::methods {
namespace {
using client::Resample;
using message::Message;
using model::LabelledPair;
using model::NeuralParameters;
using model::Triple;

enum class Decay : std::uint8_t { none, adam_l2 };
constexpr auto names_of(Decay) { return std::array{"none", "adam_l2"}; }
struct FedNcfConfig {
  client::PointwiseConfig training = {.embedding_dim = 32,
                                      .learning_rate = 0.01F,
                                      .weight_decay = 3e-4F,
                                      .batch_size = 4096,
                                      .local_epochs = 10,
                                      .optimizer_state = client::OptimizerState::persistent};
  Decay decay = Decay::adam_l2;
  Resample resample = Resample::epoch;
  std::vector<Index> hidden = {32};  // H
  ItemRows item_rows = ItemRows::all;
  StartConfig start;
  server::ServerStepConfig step;  // of the item tables
  UploadLimits limits;
  client::UploadConfig upload;
};

void declare_settings(Settings& settings, FedNcfConfig& config) {
  client::declare_common_settings(settings, config.training);
  settings.note("model.embedding_dim", "of each of the four tables");
  settings.note("train.batch_size", "triples, each of which is two samples");
  settings.add("model.hidden", config.hidden, between(1, 4096), {.least = 1, .most = 16},
               "widths of the hidden layers", "H");
  client::declare_optimizer_state(settings, config.training);
  settings.add("train.decay", config.decay,
               "`none`: weight decay is read and not used, as in the published program");
  client::declare_resample(settings, config.resample);
  declare_item_rows(settings, config.item_rows);
  declare_settings(settings, config.start);
  settings.note("model.start", "of the GMF tables, with weights of 1 and a network that outputs 0");
  declare_settings(settings, config.step);
  settings.note("server.rate", "of the item tables; the network is always averaged");
  declare_norm_cap(settings, config.limits);
  declare_size_cap(settings, config.limits);
  declare_settings(settings, config.upload);
}

client::PointwiseConfig optimizer_config(const FedNcfConfig& config) {
  client::PointwiseConfig own = config.training;
  if (config.decay == Decay::none) own.weight_decay = 0.0F;
  return own;
}

// What all clients start from. There are no users in it.
NeuralParameters draw_shared(const FedNcfConfig& config, Index num_items, const Rng& rng) {
  const Index dim = config.training.embedding_dim;
  const Real std = config.training.init_std;
  model::NeuralWeights weights = model::draw_weights(dim, dim, config.hidden, rng);
  return {
      .user_vectors = Matrix(0, dim),
      .gmf_user_vectors = Matrix(0, dim),
      .item_embeddings = normal_matrix(num_items, dim, std, rng.stream(Draw::item_init)),
      .gmf_item_embeddings = normal_matrix(num_items, dim, std, rng.stream(Draw::item_init, 0, 1)),
      .gmf_weights = std::move(weights.gmf_weights),
      .network = std::move(weights.network)};
}

// Users of its own, and zeros until the server sends the rest.
NeuralParameters draw_start(const FedNcfConfig& config, const client::ClientContext& context) {
  const Index dim = config.training.embedding_dim;
  const auto draw_users = [&](Index table) {
    return normal_matrix(context.train.num_users(), dim, config.training.init_std,
                         context.rng.stream(Draw::user_init, context.id, table));
  };
  NeuralParameters start = {.user_vectors = draw_users(0),
                            .gmf_user_vectors = draw_users(1),
                            .item_embeddings = Matrix::Zero(context.num_items, dim),
                            .gmf_item_embeddings = Matrix::Zero(context.num_items, dim),
                            .gmf_weights = Matrix::Zero(1, dim),
                            .network = {}};
  Index inputs = 2 * dim;
  for (const Index outputs : config.hidden) {
    start.network.emplace_back(Matrix::Zero(outputs, std::exchange(inputs, outputs) + 1));
  }
  start.network.emplace_back(Matrix::Zero(1, inputs + 1));
  return start;
}

std::vector<LabelledPair> label(std::span<const Triple> triples) {
  std::vector<LabelledPair> pairs;
  pairs.reserve(2 * triples.size());
  for (const Triple& triple : triples) pairs.push_back({triple.user, triple.positive, 1.0F});
  for (const Triple& triple : triples) pairs.push_back({triple.user, triple.negative, 0.0F});
  return pairs;
}

class FedNcfClient : public client::Client {
 public:
  FedNcfClient(const FedNcfConfig& config, client::ClientContext context)
      : config_(config),
        context_(std::move(context)),
        neural_(optimizer_config(config), draw_start(config, context_)),
        waiting_(config.upload, context_) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    if (request.kind == "train") {
      train(request.round, reply);
    } else if (request.kind == "update") {
      take(request.arrays);
    } else if (request.kind == "start") {
      begin(client::read_start(request, context_.train, context_.num_items,
                               config_.training.embedding_dim));
    } else if (!waiting_.answer(request, reply) &&
               !client::answer_spectral_start(request, context_.train, context_.num_items, reply)) {
      client::refuse(request);
    }
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return neural_; }
  void train(Round round, Message& reply) {
    NeuralParameters& parameters = neural_.parameters();
    neural_.begin_round();
    model::NeuralGradient gradient = make_gradient(parameters);
    Matrix touched = Matrix::Zero(context_.num_items, 1);
    const auto take_step = [&](std::span<const Triple> triples, Real rate) {
      const std::vector<LabelledPair> batch = label(triples);
      for (const LabelledPair& pair : batch) touched(pair.item, 0) = 1.0F;
      const double sum = add_batch_gradient(parameters, batch, gradient);
      neural_.step(gradient, {.users = rate, .items = rate, .weights = rate});
      return 0.5 * sum;  // a triple's loss is the mean of its two
    };
    put_loss(reply, train_on_triples({.batch_size = config_.training.batch_size,
                                      .local_epochs = config_.training.local_epochs,
                                      .resample = config_.resample,
                                      .rate = rate_in_round(config_.training, round)},
                                     context_, round, take_step));
    waiting_.offer_items(std::make_shared<const Matrix>(parameters.item_embeddings), reply);
    waiting_.offer_items(std::make_shared<const Matrix>(parameters.gmf_item_embeddings), reply,
                         "gmf_item");
    visit_weights(
        [&](const std::string& name, const Matrix& table) {
          waiting_.offer(name, std::make_shared<const Matrix>(table), reply);
        },
        parameters);
    reply.arrays.set_number("num_interactions", static_cast<double>(context_.train.size()));
    if (config_.item_rows == ItemRows::touched) waiting_.offer_touched(std::move(touched), round);
  }

  void begin(client::ModelStart start) {
    NeuralParameters& parameters = neural_.parameters();
    parameters.gmf_item_embeddings = *start.item_embeddings;
    if (start.user_vectors) parameters.gmf_user_vectors = std::move(*start.user_vectors);
  }

  void take(const NamedArrays& arrays) {
    const auto read = [&](const std::string& name, Matrix& table) {
      table = *arrays.finite_matrix(name, table.rows(), table.cols());
    };
    visit_item_tables(read, neural_.parameters());
    visit_weights(read, neural_.parameters());
  }

  FedNcfConfig config_;
  client::ClientContext context_;
  client::NeuralTraining neural_;
  WaitingUpload waiting_;
};

class FedNcfServer : public federation::ServerMethod {
 public:
  FedNcfServer(const FedNcfConfig& config, const ServerContext& context)
      : config_(config),
        context_(context),
        shared_(draw_shared(config, context.num_items, context.rng)),
        item_step_(config.step),
        gmf_item_step_(config.step) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    federation::RoundNotes notes;
    if (round == 0 && config_.start.fills_round()) {
      begin_as_factorization(federation);
      send(round, federation);
      return notes;
    }
    if (round == 0) send(round, federation);  // the shared start

    // Item tables first, then the weights of the network.
    std::vector<AveragedTable> tables = {
        {.name = "item", .present = &shared_.item_embeddings},
        {.name = "gmf_item", .present = &shared_.gmf_item_embeddings}};
    visit_weights(
        [&](const std::string& name, const Matrix& table) {
          tables.push_back({.name = name, .present = &table, .is_of_items = false});
        },
        shared_);
    std::vector<Matrix> averages = train_and_average(
        {.weights = AverageWeights::data, .item_rows = config_.item_rows, .limits = config_.limits},
        context_, {.kind = "train", .round = round, .arrays = {}}, tables, federation, notes);
    std::size_t next = 0;
    item_step_.take(shared_.item_embeddings, std::move(averages[next++]));
    gmf_item_step_.take(shared_.gmf_item_embeddings, std::move(averages[next++]));
    visit_weights([&](const std::string&, Matrix& table) { table = std::move(averages[next++]); },
                  shared_);
    send(round, federation);
    return notes;
  }

  // The clients hold what was averaged; only rows that no client touches are needed once more, and
  // tables that the next step begins at.
  [[nodiscard]] NamedArrays save() const override {
    NamedArrays state;
    if (config_.item_rows == ItemRows::touched) {
      visit_item_tables(
          [&](const std::string& name, const Matrix& table) { state.set(name, table); }, shared_);
    }
    item_step_.save(state, "item_embeddings", shared_.item_embeddings);
    gmf_item_step_.save(state, "gmf_item_embeddings", shared_.gmf_item_embeddings);
    return state;
  }
  void restore(const NamedArrays& state) override {
    if (config_.item_rows == ItemRows::touched) {
      visit_item_tables([&](const std::string& name, Matrix& table) { table = state.matrix(name); },
                        shared_);
    }
    item_step_.restore(state, "item_embeddings", shared_.item_embeddings);
    gmf_item_step_.restore(state, "gmf_item_embeddings", shared_.gmf_item_embeddings);
  }

 private:
  // Scores are those of the spectral start; what the network says of them has yet to be learned.
  void begin_as_factorization(federation::Federation& federation) {
    shared_.gmf_item_embeddings =
        *send_start(config_.start, context_, config_.training.embedding_dim,
                    config_.training.init_std, federation);
    shared_.gmf_weights.setOnes();
    shared_.network.back().setZero();
  }

  void send(Round round, federation::Federation& federation) const {
    Message update{.kind = "update", .round = round, .arrays = {}};
    const auto put = [&](const std::string& name, const Matrix& table) {
      update.arrays.set(name, table);
    };
    visit_item_tables(put, shared_);
    visit_weights(put, shared_);
    tell_all(federation, std::move(update));
  }

  FedNcfConfig config_;
  ServerContext context_;
  NeuralParameters shared_;
  server::ServerStep item_step_;
  server::ServerStep gmf_item_step_;
};
}  // namespace

Method make_fedncf() {
  return describe_method<FedNcfConfig, FedNcfServer, FedNcfClient>(
      "fedncf", "federated neural collaborative filtering, averaged by data size");
}
}  // namespace fedhur::methods
