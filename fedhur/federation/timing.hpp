// Seconds that a server spends with its clients by message kind, measured by a decorator that every
// transport can wear.
#pragma once
#include <map>
#include <string>

#include "fedhur/federation/federation.hpp"

namespace fedhur::federation {
using Seconds = std::map<std::string, double>;

class TimingFederation : public Federation {
 public:
  explicit TimingFederation(Federation& inner) : inner_(&inner) {}
  [[nodiscard]] Index num_clients() const override { return inner_->num_clients(); }
  [[nodiscard]] std::vector<Answer> exchange(std::span<const Request> requests) override;
  void tell(std::span<const Request> requests) override;
  // By kind, what was measured since the last call. All requests of a call are of one kind.
  [[nodiscard]] Seconds take();

 private:
  Federation* inner_;
  Seconds by_kind_;
};

// The phases of a round that took `total` seconds: what clients do in some exchanges has a phase of
// its own ("count": counting, "train": local_training, "query": query, "finetune": fine_tuning);
// the rest is "server".
[[nodiscard]] Seconds phases_of_round(const Seconds& by_kind, double total);
}  // namespace fedhur::federation
