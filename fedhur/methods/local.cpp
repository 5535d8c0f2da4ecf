// The paper's MF row: every client trains alone, nothing is shared but the round counter.
#include "fedhur/client/local_training.hpp"
#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/methods/uploads.hpp"

namespace fedhur::methods {
namespace {
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

 private:
  [[nodiscard]] client::Training& training() override { return training_; }
  client::LocalTraining training_;
};

class LocalServer : public federation::ServerMethod {
 public:
  LocalServer(const LocalTrainingConfig& /*config*/, const ServerContext& /*context*/) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    const auto answers = ask_to_train(federation, {.kind = "train", .round = round, .arrays = {}},
                                      [](const NamedArrays&) {});
    return {.loss = mean_loss(answers), .numbers = {}};
  }
};
}  // namespace

Method make_local() {
  return describe_method<LocalTrainingConfig, LocalServer, LocalClient>(
      "local", "matrix factorisation at each client alone (the paper's MF)");
}
}  // namespace fedhur::methods
