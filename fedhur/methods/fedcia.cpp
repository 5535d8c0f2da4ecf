// FedCIA: clients keep an embedding space of their own and agree on item-item filters. The server
// averages the filters; each client fits its embeddings to the average.
#include "fedhur/methods/fedhur_round.hpp"

namespace fedhur::methods {
namespace {
using message::Message;

class FedCiaClient : public client::Client {
 public:
  FedCiaClient(const FilterMethodConfig& config, const client::ClientContext& context)
      : filtered_(config, context) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    if (filtered_.answer(request, reply)) return reply;
    if (request.kind != "finetune") client::refuse(request);
    filtered_.finetune(linalg::filter_of_factor(filtered_.read_factor(request)));
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return filtered_.training(); }
  FilterTraining filtered_;
};

class FedCiaServer : public federation::ServerMethod {
 public:
  FedCiaServer(const FilterMethodConfig& config, const ServerContext& context)
      : config_(config), context_(context), rounds_(config, context) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    if (rounds_.begin(round, federation)) return {};
    FedHurRound now;
    now.trained = rounds_.run(round, federation);
    now.config.common = config_;
    now.config.retrieval.relation = server::Relation::none;
    if (context_.watches(round)) context_.watcher->show(now);
    // The filter serves all clients, also those that did not train in this round.
    Message request{.kind = "finetune", .round = round, .arrays = {}};
    request.arrays.set("global_factor", Array(now.trained.global_factor));
    tell_all(federation, std::move(request));
    return now.trained.notes;
  }

  [[nodiscard]] NamedArrays save() const override {
    NamedArrays state;
    rounds_.save(state);
    return state;
  }
  void restore(const NamedArrays& state) override { rounds_.restore(state); }

 private:
  FilterMethodConfig config_;
  ServerContext context_;
  FilterRounds rounds_;
};
}  // namespace

Method make_fedcia() {
  return showing_rounds(describe_method<FilterMethodConfig, FedCiaServer, FedCiaClient>(
      "fedcia", "item-item filters averaged; every client fits its own embeddings to them"));
}
}  // namespace fedhur::methods
