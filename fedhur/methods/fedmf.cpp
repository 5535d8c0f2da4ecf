// FedMF: clients train matrix factorisation on their rows, the server averages the item embeddings
// by data size.
#include "fedhur/base/random_matrix.hpp"
#include "fedhur/base/stopwatch.hpp"
#include "fedhur/client/training_client.hpp"
#include "fedhur/linalg/kernels.hpp"
#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"

namespace fedhur::methods {
namespace {
using client::LocalTrainingConfig;
using federation::Answer;
using message::Message;

struct FedMfConfig {
  LocalTrainingConfig training;
  WireConfig wire;
};
void read_settings(ConfigTable& table, FedMfConfig& config) {
  read_settings(table, config.training);
  read_settings(table, config.wire);
}

class FedMfClient : public client::TrainingClient {
 public:
  FedMfClient(const FedMfConfig& config, client::ClientContext context)
      : TrainingClient(config.training, std::move(context)), config_(config) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    if (request.kind == "train") {
      put_loss(reply, training().train(request.round));
      put_item_embeddings(reply, training().item_embeddings(), config_.wire.rank);
      reply.arrays.set_number("num_interactions",
                              static_cast<double>(training().num_interactions()));
    } else if (request.kind == "update") {
      training().set_item_embeddings(request.arrays.finite_matrix(
          "item_embeddings", training().num_items(), config_.training.embedding_dim));
    } else {
      client::refuse(request);
    }
    return reply;
  }

 private:
  FedMfConfig config_;
};

// sum_k (n_k / sum_j n_j) E_k, added in client order and in double.
Matrix average_by_data_size(const std::vector<Answer>& answers, Index num_items,
                            Index embedding_dim, const Executor& executor) {
  std::vector<Shared<Matrix>> tables(answers.size());
  executor.for_each(static_cast<Index>(answers.size()), [&](Index i) {
    const auto k = static_cast<std::size_t>(i);
    tables[k] = uploaded(answers[k], [&](const NamedArrays& arrays) {
      return read_item_embeddings(arrays, num_items, embedding_dim);
    });
  });
  std::vector<double> weights;
  double total = 0.0;
  for (const Answer& answer : answers) {
    weights.push_back(uploaded(
        answer, [](const NamedArrays& arrays) { return arrays.number("num_interactions"); }));
    total += weights.back();
  }
  if (!(total > 0.0)) throw ProtocolError("the clients have no training interactions at all");
  constexpr Index kRowsPerTask = 16;
  Matrix average(num_items, embedding_dim);
  executor.for_each((num_items + kRowsPerTask - 1) / kRowsPerTask, [&](Index task) {
    const Index first = task * kRowsPerTask;
    const Index count = std::min(kRowsPerTask, num_items - first);
    MatrixOf<double> sum = MatrixOf<double>::Zero(count, embedding_dim);
    for (std::size_t k = 0; k < tables.size(); ++k) {
      linalg::add_scaled(sum.data(), tables[k]->row(first).data(), weights[k] / total, sum.size());
    }
    average.middleRows(first, count) = sum.cast<Real>();
  });
  // What is not finite in an upload is not finite in the average: looking once finds it, and only
  // then is it worth asking whose it was.
  if (!average.allFinite()) {
    for (const Answer& answer : answers) {
      uploaded(answer, [&](const NamedArrays& arrays) {
        return read_finite_item_embeddings(arrays, num_items, embedding_dim);
      });
    }
    throw ProtocolError("the average of all item embeddings is too large for a float");
  }
  return average;
}

// There is nothing to save: the clients hold the averaged table and start the next round from it.
class FedMfServer : public federation::ServerMethod {
 public:
  FedMfServer(const FedMfConfig& config, const ServerContext& context)
      : config_(config.training),
        context_(context),
        item_embeddings_(normal_matrix(context.num_items, config_.embedding_dim, config_.init_std,
                                       context.rng.stream(Draw::item_init))) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    federation::RoundNotes notes;
    if (round == 0) send_embeddings(round, federation);  // the shared start

    const Stopwatch training;
    const auto answers = ask_all(federation, {.kind = "train", .round = round, .arrays = {}});
    notes.loss = mean_loss(answers);
    notes.seconds["local_training"] = training.seconds();

    const Stopwatch server;
    item_embeddings_ = average_by_data_size(answers, context_.num_items, config_.embedding_dim,
                                            *context_.executor);
    send_embeddings(round, federation);
    notes.seconds["server"] = server.seconds();
    return notes;
  }

 private:
  void send_embeddings(Round round, federation::Federation& federation) const {
    Message update{.kind = "update", .round = round, .arrays = {}};
    update.arrays.set("item_embeddings", item_embeddings_);
    (void)ask_all(federation, std::move(update));
  }

  LocalTrainingConfig config_;
  ServerContext context_;
  Matrix item_embeddings_;
};
}  // namespace

Method make_fedmf() {
  return describe_method<FedMfConfig, FedMfServer, FedMfClient>(
      "fedmf", "federated matrix factorisation, item embeddings averaged by data size");
}
}  // namespace fedhur::methods
