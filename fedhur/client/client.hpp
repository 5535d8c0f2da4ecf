// The client's half of a method. It owns the private parameters; there is no accessor for them.
#pragma once
#include "fedhur/base/error.hpp"
#include "fedhur/base/ids.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/client/trained_model.hpp"
#include "fedhur/data/interactions.hpp"
#include "fedhur/federation/client_method.hpp"
#include "fedhur/model/recommender.hpp"

namespace fedhur::client {
struct ClientContext {  // what every client is made from
  ClientId id{};
  data::UserItems train;  // the training split and nothing else
  Index num_items = 0;
  Rng rng{0};  // of the whole experiment: draw from streams keyed by `id`
};

// What a client trains and recommends with.
class Training {
 public:
  virtual ~Training() = default;
  // As it is now.
  [[nodiscard]] virtual const model::Recommender& recommender() const = 0;
  // The same as a value: to_state().
  [[nodiscard]] virtual PrivateState model() const = 0;
  // Everything the next round needs from this client, and back.
  [[nodiscard]] virtual PrivateState save() const = 0;
  virtual void restore(const PrivateState& state) = 0;
};

// A training, and what the method answers with it.
class Client : public federation::ClientMethod {
 public:
  [[nodiscard]] const model::Recommender& recommender() { return training().recommender(); }
  [[nodiscard]] PrivateState model() { return training().model(); }
  [[nodiscard]] PrivateState save() { return training().save(); }
  void restore(const PrivateState& state) { training().restore(state); }

 private:
  [[nodiscard]] virtual Training& training() = 0;
};

// ProtocolError for a request of a kind that the method does not know.
[[noreturn]] inline void refuse(const message::Message& request) {
  throw ProtocolError("no answer is known to a request of kind '" + request.kind + "'");
}
}  // namespace fedhur::client
