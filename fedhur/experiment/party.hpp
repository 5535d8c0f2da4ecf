// Both sides of a method, made from a run's settings: the server half, and the clients of one
// process.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fedhur/base/parallel.hpp"
#include "fedhur/data/client_data.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/federation/server_method.hpp"

namespace fedhur::experiment {
// A method's client half, its held-out rows and its best model so far. Besides what the method asks
// it answers "evaluate", and "keep", which makes the present model the best one.
class Member : public federation::ClientMethod {
 public:
  Member(std::unique_ptr<client::Client> half, data::ClientData data, std::vector<Index> cutoffs,
         Shared<evaluate::ItemBins> bins = nullptr);
  [[nodiscard]] message::Message answer(const message::Message& request) override;

  [[nodiscard]] client::Client& half() const { return *half_; }
  [[nodiscard]] const data::ClientData& data() const { return data_; }
  // None before the first "keep".
  [[nodiscard]] const std::optional<client::PrivateState>& best_model() const { return best_; }
  void set_best_model(std::optional<client::PrivateState> model) { best_ = std::move(model); }

 private:
  std::unique_ptr<client::Client> half_;
  data::ClientData data_;
  std::vector<Index> cutoffs_;
  Shared<evaluate::ItemBins> bins_;
  std::optional<client::PrivateState> best_;
};

// Has all clients keep their present model, that of `round`, before they do anything else.
void keep_models(federation::Federation& federation, Round round);
// The same, and has waited for them.
void ensure_kept(federation::Federation& federation, Round round);

class Party {
 public:
  Party() = default;  // without clients
  // One client for each of `data`. `ids` are their numbers in the federation; without any they are
  // numbered from 0. Without `bins` quality is not broken down by popularity.
  Party(const ExperimentConfig& config, std::vector<data::ClientData> data, Index num_items,
        const Executor& executor, std::vector<ClientId> ids = {},
        const Shared<evaluate::ItemBins>& bins = nullptr);

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] const std::vector<ClientId>& ids() const { return ids_; }
  [[nodiscard]] Member& operator[](std::size_t i) const { return *members_[i]; }
  [[nodiscard]] std::vector<federation::ClientMethod*> methods() const;

  // All that the next round needs of the clients, with their best models. `each(i)` writes or reads
  // what the file has about client i besides, before its state.
  using Each = std::function<void(std::size_t i)>;
  void save(
      ByteSink& sink, const Each& each = [](std::size_t) {}) const;
  // ProtocolError if it is damaged or of another number of clients.
  void restore(
      ByteReader& reader, const Each& each = [](std::size_t) {});

 private:
  std::vector<ClientId> ids_;
  std::vector<std::unique_ptr<Member>> members_;
};

// The server half; the executor and the watcher, if any, outlive it.
[[nodiscard]] std::unique_ptr<federation::ServerMethod> make_server(
    const ExperimentConfig& config, Index num_clients, Index num_items, const Executor& executor,
    const methods::RoundWatcher* watcher = nullptr);
// With as many threads as the settings want. ConfigError if the installed BLAS cannot bear them.
[[nodiscard]] Executor make_executor(Index threads);
[[nodiscard]] Index num_threads(Index wanted);  // 0 means one per core
}  // namespace fedhur::experiment
