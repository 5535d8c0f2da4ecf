// The paper's MF row: every client trains alone, nothing is shared but the round counter.
#include "fedhur/base/stopwatch.hpp"
#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"

namespace fedhur::methods {
namespace {
using client::LocalTraining;
using client::LocalTrainingConfig;
using message::Message;

class LocalClient : public client::Client {
 public:
  LocalClient(const LocalTrainingConfig& config, client::ClientContext context)
      : training_(config, std::move(context)) {
    training_.draw_item_embeddings();
  }

  Message answer(const Message& request) override {
    if (request.kind != "train") client::refuse(request);
    Message reply = reply_to(request);
    put_loss(reply, training_.train(request.round));
    return reply;
  }

  [[nodiscard]] const model::Recommender& recommender() const override {
    return training_.recommender();
  }
  [[nodiscard]] client::PrivateState model() const override { return training_.model(); }
  [[nodiscard]] client::PrivateState save() const override { return training_.save(); }
  void restore(const client::PrivateState& state) override { training_.restore(state); }

 private:
  LocalTraining training_;
};

class LocalServer : public federation::ServerMethod {
 public:
  LocalServer(const LocalTrainingConfig& /*config*/, const ServerContext& /*context*/) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    const Stopwatch watch;
    const auto answers = ask_all(federation, {.kind = "train", .round = round, .arrays = {}});
    return {.loss = mean_loss(answers),
            .seconds = {{"local_training", watch.seconds()}},
            .numbers = {}};
  }
};
}  // namespace

Method make_local() {
  return describe_method<LocalTrainingConfig, LocalServer, LocalClient>(
      "local", "matrix factorisation at each client alone (the paper's MF)");
}
}  // namespace fedhur::methods
