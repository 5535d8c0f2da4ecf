// What FedCIA and FedHUR have in common: item embeddings go up, a filter comes down, and every
// client fits its own embeddings to it.
#pragma once
#include "fedhur/client/fine_tuning.hpp"
#include "fedhur/client/training_client.hpp"
#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/methods/uploads.hpp"

namespace fedhur::methods {
struct FilterMethodConfig {
  // These methods need half the rounds of FedMF, so the learning rate falls faster.
  client::LocalTrainingConfig training = {.learning_rate_decay = 0.95F};
  client::FineTuningConfig fine_tuning;
  server::GlobalFilterConfig global_filter;
  Real laplace_scale = 0.0F;  // b; noise on every uploaded number, drawn anew each round
  UploadConfig upload;
  WireConfig wire;
};
void read_settings(ConfigTable& table, FilterMethodConfig& config);

// Answers "start" (takes the shared first embeddings) and "train" (uploads the trained ones); what
// comes back after that is the method's own.
class FilterClient : public client::TrainingClient {
 public:
  FilterClient(const FilterMethodConfig& config, const client::ClientContext& context);
  message::Message answer(const message::Message& request) override;

 protected:
  // A request of another kind.
  virtual void follow(const message::Message& request, message::Message& reply) = 0;
  void finetune(const linalg::ItemFilter& filter);
  // V Lambda^(1/2) of a request; ProtocolError unless it is a finite row per item.
  [[nodiscard]] Shared<Matrix> read_factor(const message::Message& request);
  // As uploaded in this round: what the server sees of this client, after noise, truncation and
  // rounding. ProtocolError if nothing was.
  [[nodiscard]] Shared<Matrix> uploaded_embeddings();
  [[nodiscard]] const FilterMethodConfig& config() const { return config_; }

 private:
  [[nodiscard]] Shared<Matrix> add_noise(const Shared<Matrix>& embeddings, Round round) const;
  FilterMethodConfig config_;
  Rng rng_;
  ClientId id_;
  message::Message uploaded_;  // the reply to "train", until the fine-tuning
};

// Those who have trained in a round, in ascending order, and what they uploaded.
struct Participants {
  std::vector<ClientId> clients;
  server::Uploads uploads;
};

// The server's side of the same: the shared start, the uploads of a round, and the global filter,
// whose basis the next round starts from.
class FilterRounds {
 public:
  FilterRounds(const FilterMethodConfig& config, const ServerContext& context);
  // Sends the start in round 0, asks all clients to train, and notes loss and time.
  [[nodiscard]] Participants train(Round round, federation::Federation& federation,
                                   federation::RoundNotes& notes) const;
  [[nodiscard]] const server::GlobalFilter& update_filter(const server::Uploads& uploads);
  [[nodiscard]] const ServerContext& context() const { return context_; }

  // Whoever watches this round; null if nobody does.
  [[nodiscard]] const RoundWatcher* watcher(Round round) const;
  // Uploads, E_g and the global filter.
  void show(const RoundWatcher& watcher, const Participants& participants) const;
  // What a reader has to know of the settings, and who took part if not all did: members of a JSON
  // object, without its braces.
  [[nodiscard]] std::string describe(const std::string& method, Round round,
                                     const Participants& participants) const;

  void save(NamedArrays& state) const;
  void restore(const NamedArrays& state);

 private:
  FilterMethodConfig config_;
  ServerContext context_;
  server::GlobalFilter filter_;
};
}  // namespace fedhur::methods
