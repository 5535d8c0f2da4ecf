// FedMF: clients train matrix factorisation on their rows, the server averages the item embeddings
// by data size.
#include "fedhur/client/local_training.hpp"
#include "fedhur/methods/averaging.hpp"

namespace fedhur::methods {
namespace {
using client::LocalTrainingConfig;
using message::Message;

struct FedMfConfig {
  LocalTrainingConfig training;
  StartConfig start;
  ItemRows item_rows = ItemRows::all;
  server::ServerStepConfig step;
  UploadLimits limits;
  client::UploadConfig upload;
};
void declare_settings(Settings& settings, FedMfConfig& config) {
  declare_settings(settings, config.training);
  declare_settings(settings, config.start);
  declare_item_rows(settings, config.item_rows);
  declare_settings(settings, config.step);
  declare_norm_cap(settings, config.limits);
  declare_size_cap(settings, config.limits);
  declare_settings(settings, config.upload);
}

class FedMfClient : public client::Client {
 public:
  FedMfClient(const FedMfConfig& config, const client::ClientContext& context)
      : config_(config), training_(config.training, context), waiting_(config.upload, context) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    if (request.kind == "train") {
      Matrix touched = Matrix::Zero(training_.num_items(), 1);
      put_loss(reply, training_.train(request.round, &touched));
      waiting_.offer_items(training_.item_embeddings(), reply);
      if (config_.item_rows == ItemRows::touched) {
        waiting_.offer_touched(std::move(touched), request.round);
      }
      reply.arrays.set_number("num_interactions",
                              static_cast<double>(training_.num_interactions()));
    } else if (request.kind == "update") {
      training_.set_item_embeddings(request.arrays.finite_matrix(
          "item_embeddings", training_.num_items(), config_.training.embedding_dim));
    } else if (!waiting_.answer(request, reply) && !training_.answer_start(request, reply)) {
      client::refuse(request);
    }
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return training_; }
  FedMfConfig config_;
  client::LocalTraining training_;
  WaitingUpload waiting_;
};

class FedMfServer : public AveragingServer {
 public:
  FedMfServer(const FedMfConfig& config, const ServerContext& context)
      : AveragingServer({.embedding_dim = config.training.embedding_dim,
                         .init_std = config.training.init_std,
                         .rules = {.weights = AverageWeights::data,
                                   .item_rows = config.item_rows,
                                   .limits = config.limits},
                         .start = config.start,
                         .step = config.step},
                        context) {}
};
}  // namespace

Method make_fedmf() {
  return describe_method<FedMfConfig, FedMfServer, FedMfClient>(
      "fedmf", "federated matrix factorisation, item embeddings averaged by data size");
}
}  // namespace fedhur::methods
