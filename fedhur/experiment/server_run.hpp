// The server of a real federation: the round loop of a simulation with clients that are elsewhere.
#pragma once
#include <memory>
#include <string>

#include "fedhur/base/parallel.hpp"
#include "fedhur/data/catalogue.hpp"
#include "fedhur/experiment/round_loop.hpp"
#include "fedhur/transport/network/hub.hpp"

namespace fedhur::experiment {
class ServerRun {
 public:
  // A new run in `folder`, or the one that is in it already: then `resolved` is what its
  // config.toml says. Sites may connect to the hub from here on.
  ServerRun(const ResolvedConfig& resolved, const RunFolder& folder, transport::NetworkLog log,
            const TrainingHooks& hooks);
  ~ServerRun();

  [[nodiscard]] transport::Hub& hub() { return *hub_; }
  [[nodiscard]] const ExperimentConfig& config() const { return config_; }
  // What sites are told when they connect, but for the clients that each may speak for.
  [[nodiscard]] const transport::Welcome& welcome() const { return welcome_; }
  // No honest reply is larger.
  [[nodiscard]] std::size_t largest_reply() const;

  // Waits for clients, then trains. TransportError if fewer than the quorum are left; the run can
  // be resumed then.
  [[nodiscard]] TrainingOutcome run(const TrainingHooks& hooks);

 private:
  void begin();
  void save(const Progress& progress);

  RunFolder folder_;
  ExperimentConfig config_;
  transport::Welcome welcome_;
  std::string toml_;       // all settings, for the run folder
  data::Dataset dataset_;  // items, no rows
  std::vector<Index> train_counts_;
  Executor executor_;
  Party party_;  // without clients: what those know stays at the sites
  std::unique_ptr<federation::ServerMethod> server_;
  Progress progress_;
  std::unique_ptr<transport::ReplyJournal> journal_;
  std::unique_ptr<transport::Hub> hub_;
};
}  // namespace fedhur::experiment
