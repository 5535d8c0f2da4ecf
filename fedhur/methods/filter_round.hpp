// What FedCIA and FedHUR have in common: item embeddings go up, a filter comes down, and every
// client fits its own embeddings to it.
#pragma once
#include "fedhur/client/fine_tuning.hpp"
#include "fedhur/client/local_training.hpp"
#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/methods/model_start.hpp"
#include "fedhur/methods/uploads.hpp"

namespace fedhur::methods {
struct FilterMethodConfig {
  // These methods need half the rounds of FedMF, so the learning rate falls faster.
  client::LocalTrainingConfig training = {.learning_rate_decay = 0.95F};
  StartConfig start;
  client::FineTuningConfig fine_tuning;
  server::GlobalFilterConfig global_filter;
  Real server_rate = 1.0F;  // eta, of filters
  UploadLimits limits;
  client::UploadConfig upload;
};
void declare_settings(Settings& settings, FilterMethodConfig& config);

// The client's side: takes the shared start, trains, uploads, and fits its embeddings to a filter.
class FilterTraining {
 public:
  FilterTraining(const FilterMethodConfig& config, const client::ClientContext& context);

  // Answers "train" and what LocalTraining::answer_start() does; false for any other kind.
  [[nodiscard]] bool answer(const message::Message& request, message::Message& reply);
  // V Lambda^(1/2) of a request; ProtocolError unless it is a finite row per item.
  [[nodiscard]] Shared<Matrix> read_factor(const message::Message& request) const;
  // The upload of this round as the server sees it. ProtocolError if there was none.
  [[nodiscard]] Shared<Matrix> uploaded_embeddings() const;
  void finetune(const linalg::ItemFilter& filter);
  [[nodiscard]] client::LocalTraining& training() { return training_; }

 private:
  FilterMethodConfig config_;
  client::LocalTraining training_;
  client::UploadStage upload_;
  std::optional<client::UploadedTable> uploaded_;  // from "train" to the fine-tuning
};

// A round as far as both methods go together.
struct FilterRound {
  Round round = 0;
  std::vector<ClientId> clients{};        // who trained, in ascending order
  server::Uploads uploads{};              // E_k
  Shared<server::GlobalFilter> filter{};  // V and Lambda, the eigenpairs of S_g
  Shared<Matrix> global_factor{};         // V Lambda^(1/2), the form in which S_g is sent
  federation::RoundNotes notes{};
};

// The server's side: the shared start, the uploads of a round, and the global filter, whose basis
// the next round starts from. With a server rate the filter moves from the one sent last towards
// that of the uploads; all that works with S_g then works with where it went.
class FilterRounds {
 public:
  FilterRounds(const FilterMethodConfig& config, const ServerContext& context)
      : config_(config), context_(context) {}
  // Sends the start in round 0. Whether that is all of the round.
  [[nodiscard]] bool begin(Round round, federation::Federation& federation);
  // Has all clients train, and computes S_g of their uploads.
  [[nodiscard]] FilterRound run(Round round, federation::Federation& federation);

  void save(NamedArrays& state) const;
  void restore(const NamedArrays& state);

 private:
  FilterMethodConfig config_;
  ServerContext context_;
  [[nodiscard]] bool is_stepping() const { return config_.server_rate != 1.0F; }
  Shared<server::GlobalFilter> filter_ = std::make_shared<server::GlobalFilter>();
  Shared<Matrix> last_factor_;  // T of the filter sent last, the start at first; null if unused
};
}  // namespace fedhur::methods
