// FedMF: clients train matrix factorisation on their rows, the server averages the item embeddings
// by data size.
#include "fedhur/client/training_client.hpp"
#include "fedhur/methods/averaging.hpp"

namespace fedhur::methods {
namespace {
using client::LocalTrainingConfig;
using message::Message;

struct FedMfConfig {
  LocalTrainingConfig training;
  UploadConfig upload;
  WireConfig wire;
};
void read_settings(ConfigTable& table, FedMfConfig& config) {
  read_settings(table, config.training);
  read_norm_cap(table, config.upload);
  read_size_cap(table, config.upload);
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

class FedMfServer : public AveragingServer {
 public:
  FedMfServer(const FedMfConfig& config, const ServerContext& context)
      : AveragingServer({.embedding_dim = config.training.embedding_dim,
                         .init_std = config.training.init_std,
                         .weights = AverageWeights::data,
                         .upload = config.upload},
                        context) {}
};
}  // namespace

Method make_fedmf() {
  return describe_method<FedMfConfig, FedMfServer, FedMfClient>(
      "fedmf", "federated matrix factorisation, item embeddings averaged by data size");
}
}  // namespace fedhur::methods
