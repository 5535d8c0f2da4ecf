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
  server::ServerStepConfig step;
  UploadLimits limits;
  client::UploadConfig upload;
};
void declare_settings(Settings& settings, FedMfConfig& config) {
  declare_settings(settings, config.training);
  declare_settings(settings, config.start);
  declare_settings(settings, config.step);
  declare_norm_cap(settings, config.limits);
  declare_size_cap(settings, config.limits);
  declare_settings(settings, config.upload);
}

class FedMfClient : public client::Client {
 public:
  FedMfClient(const FedMfConfig& config, const client::ClientContext& context)
      : config_(config), training_(config.training, context), upload_(config.upload, context) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    if (request.kind == "train") {
      put_loss(reply, training_.train(request.round));
      upload_.put(training_.item_embeddings(), reply);
      reply.arrays.set_number("num_interactions",
                              static_cast<double>(training_.num_interactions()));
    } else if (request.kind == "update") {
      training_.set_item_embeddings(request.arrays.finite_matrix(
          "item_embeddings", training_.num_items(), config_.training.embedding_dim));
    } else if (!training_.answer_start(request, reply)) {
      client::refuse(request);
    }
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return training_; }
  FedMfConfig config_;
  client::LocalTraining training_;
  client::UploadStage upload_;
};

class FedMfServer : public AveragingServer {
 public:
  FedMfServer(const FedMfConfig& config, const ServerContext& context)
      : AveragingServer({.embedding_dim = config.training.embedding_dim,
                         .init_std = config.training.init_std,
                         .weights = AverageWeights::data,
                         .start = config.start,
                         .step = config.step,
                         .limits = config.limits},
                        context) {}
};
}  // namespace

Method make_fedmf() {
  return describe_method<FedMfConfig, FedMfServer, FedMfClient>(
      "fedmf", "federated matrix factorisation, item embeddings averaged by data size");
}
}  // namespace fedhur::methods
