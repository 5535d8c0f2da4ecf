// Wraps the client half of any method: answers "evaluate" with sums of ranking quality, and "keep"
// by remembering the state it recommends with now.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/client/client.hpp"
#include "fedhur/data/client_data.hpp"
#include "fedhur/evaluate/full_ranking.hpp"
#include "fedhur/federation/federation.hpp"

namespace fedhur::evaluate {
struct EvaluationConfig {
  std::vector<Index> cutoffs = {10};  // every k of the @k metrics
  std::string criterion = "f1@10";    // of the validation split; selects the round and stops
};
void read_settings(ConfigTable& table, EvaluationConfig& config);

class EvaluatingClient : public federation::ClientMethod {
 public:
  EvaluatingClient(std::unique_ptr<client::Client> inner, data::ClientData data,
                   std::vector<Index> cutoffs,
                   Shared<ItemBins> bins = std::make_shared<const ItemBins>());
  [[nodiscard]] message::Message answer(const message::Message& request) override;

  [[nodiscard]] const client::Client& inner() const { return *inner_; }
  [[nodiscard]] client::Client& inner() { return *inner_; }
  [[nodiscard]] const data::ClientData& data() const { return data_; }
  // As of the last "keep".
  [[nodiscard]] const std::optional<client::PrivateState>& kept_model() const { return kept_; }
  void restore_kept_model(std::optional<client::PrivateState> kept) { kept_ = std::move(kept); }

 private:
  std::unique_ptr<client::Client> inner_;
  data::ClientData data_;
  std::vector<Index> cutoffs_;
  Shared<ItemBins> bins_;
  std::optional<client::PrivateState> kept_;
};

// Asks all clients and adds up what those say who answer, in client order. Answers that cannot be
// true are refused.
[[nodiscard]] Quality evaluate_clients(federation::Federation& federation, Round round,
                                       const std::vector<Index>& cutoffs);
// Has all clients remember their present state, that of `round`, as the best one, before they do
// anything else.
void keep_models(federation::Federation& federation, Round round);
// The same, and has waited for them.
void ensure_kept(federation::Federation& federation, Round round);
}  // namespace fedhur::evaluate
