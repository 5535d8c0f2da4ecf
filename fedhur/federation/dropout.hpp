// Clients that are away for a round, drawn by a decorator that every transport can wear: what a
// simulation has in place of a network that fails.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "fedhur/base/byte_stream.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/federation/federation.hpp"

namespace fedhur::federation {
class DropoutFederation : public Federation {
 public:
  // Each client is away in each round with probability `rate`. Of those that an exchange asks, at
  // least one is there: the one that has drawn the largest number.
  DropoutFederation(Federation& inner, double rate, const Rng& rng)
      : inner_(&inner), rate_(rate), rng_(rng) {}
  [[nodiscard]] Index num_clients() const override { return inner_->num_clients(); }
  // A client that is away misses what it is asked.
  [[nodiscard]] std::vector<Answer> exchange(std::span<const Request> requests) override;
  // A client that was away gets the newest message of each kind before anything else.
  void tell(std::span<const Request> requests) override;
  // Who has missed something since the last call.
  [[nodiscard]] std::vector<ClientId> take_absentees();

  // Between two rounds: the messages that clients will get when they are back.
  void save(ByteSink& sink) const;
  void restore(ByteReader& reader);

 private:
  [[nodiscard]] double draw(const Request& request) const;
  [[nodiscard]] bool is_away(const Request& request) const;
  [[nodiscard]] std::vector<Request> those_there(std::span<const Request> requests);
  void catch_up(std::span<const Request> requests);

  Federation* inner_;
  double rate_;
  Rng rng_;
  std::set<std::pair<Round, ClientId>> called_back_;  // since all others were away
  std::set<ClientId> absentees_;
  std::map<ClientId, std::vector<std::shared_ptr<const Message>>> missed_;  // in order
};
}  // namespace fedhur::federation
