// Averages of uploaded item embeddings, and the server half of methods that do nothing else.
#pragma once
#include <vector>

#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/methods/model_start.hpp"
#include "fedhur/methods/uploads.hpp"
#include "fedhur/server/server_step.hpp"

namespace fedhur::methods {
enum class AverageWeights : std::uint8_t {
  uniform,
  data,  // by "num_interactions", which the clients then upload
};
constexpr auto names_of(AverageWeights) { return std::array{"uniform", "data"}; }

struct AveragingConfig {
  Index embedding_dim = 0;
  Real init_std = 0;
  AverageWeights weights = AverageWeights::uniform;
  StartConfig start{};
  server::ServerStepConfig step;
  UploadLimits limits;
};

// Asks all clients to train and gives the average of what they upload, sum_k weight_k E_k, added in
// client order and in double; the weights sum to one. Notes loss and time.
[[nodiscard]] Matrix train_and_average(const AveragingConfig& config, const ServerContext& context,
                                       message::Message request, federation::Federation& federation,
                                       federation::RoundNotes& notes);

// A round is "train", which clients answer with their item embeddings, and "update" with what the
// server makes of the average of those who did, from which all recommend and train on. The clients
// hold it, so there is nothing to save unless the next step begins at it.
class AveragingServer : public federation::ServerMethod {
 public:
  AveragingServer(const AveragingConfig& config, const ServerContext& context);
  federation::RoundNotes run_round(Round round, federation::Federation& federation) override;
  [[nodiscard]] NamedArrays save() const override;
  void restore(const NamedArrays& state) override;

 private:
  void send_embeddings(Round round, federation::Federation& federation) const;
  AveragingConfig config_;
  ServerContext context_;
  server::ServerStep step_;
  Matrix item_embeddings_;
};
}  // namespace fedhur::methods
