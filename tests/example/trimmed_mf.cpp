// FedMF that a few wrong uploads cannot spoil: of every number, the largest and the smallest are
// left out of the average.
#include <algorithm>
#include <numeric>

#include "fedhur/base/random_matrix.hpp"
#include "fedhur/client/local_training.hpp"
#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/methods/uploads.hpp"

namespace fedhur::methods {
namespace {
using message::Message;
constexpr const char* kTable = "item_embeddings";

struct TrimmedMfConfig {
  client::LocalTrainingConfig training;
  double trim = 0.1;
};
void declare_settings(Settings& settings, TrimmedMfConfig& config) {
  declare_settings(settings, config.training);
  settings.add("robust.trim", config.trim, from_below(0, 0.5),
               "share of the uploads that is left out at either end");
}

class TrimmedMfClient : public client::Client {
 public:
  TrimmedMfClient(const TrimmedMfConfig& config, client::ClientContext context)
      : training_(config.training, std::move(context)) {}
  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    const Index dim = training_.item_embeddings()->cols();
    if (request.kind == "train") {
      put_loss(reply, training_.train(request.round));
      reply.arrays.set(kTable, Array(training_.item_embeddings()));
    } else if (request.kind == "update") {
      training_.set_item_embeddings(
          request.arrays.finite_matrix(kTable, training_.num_items(), dim));
    } else {
      client::refuse(request);
    }
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return training_; }
  client::LocalTraining training_;
};

class TrimmedMfServer : public federation::ServerMethod {
 public:
  TrimmedMfServer(const TrimmedMfConfig& config, const ServerContext& context)
      : config_(config), context_(context) {}
  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    Matrix mean = normal_matrix(context_.num_items, config_.training.embedding_dim,
                                config_.training.init_std, context_.rng.stream(Draw::item_init));
    if (round == 0) send(mean, round, federation);  // all clients start from one table
    const auto answers =
        ask_to_train(federation, {.kind = "train", .round = round, .arrays = {}},
                     [rows = mean.rows(), cols = mean.cols()](const NamedArrays& upload) {
                       check_table(upload, kTable, rows, cols);
                     });
    std::vector<Shared<Matrix>> tables;
    for (const auto& answer : answers) {
      tables.push_back(answer.message.arrays.shared_matrix(kTable));
    }
    context_.executor->for_each(mean.size(), [&](Index i) { mean.data()[i] = average(tables, i); });
    send(mean, round, federation);
    return {.loss = mean_loss(answers), .numbers = {}};
  }

 private:
  [[nodiscard]] Real average(const std::vector<Shared<Matrix>>& tables, Index entry) const {
    std::vector<double> values;
    for (const auto& table : tables) values.push_back(static_cast<double>(table->data()[entry]));
    std::ranges::sort(values);
    const auto cut = static_cast<std::ptrdiff_t>(config_.trim * static_cast<double>(values.size()));
    const double sum = std::accumulate(values.begin() + cut, values.end() - cut, 0.0);
    return static_cast<Real>(sum / static_cast<double>(std::ssize(values) - 2 * cut));
  }
  static void send(const Matrix& table, Round round, federation::Federation& federation) {
    Message update{.kind = "update", .round = round, .arrays = {}};
    update.arrays.set(kTable, table);
    tell_all(federation, std::move(update));
  }
  TrimmedMfConfig config_;
  ServerContext context_;
};
}  // namespace

Method make_trimmed_mf() {
  return describe_method<TrimmedMfConfig, TrimmedMfServer, TrimmedMfClient>(
      "trimmed_mf", "FedMF whose averages leave out the extremes, for uploads nobody vouches for");
}
}  // namespace fedhur::methods
