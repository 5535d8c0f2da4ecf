// FedCIA: clients keep an embedding space of their own and agree on item-item filters. The server
// averages the filters; each client fits its embeddings to the average.
#include "fedhur/methods/common.hpp"
#include "fedhur/methods/filter_round.hpp"

namespace fedhur::methods {
namespace {
using message::Message;

class FedCiaClient : public FilterClient {
 public:
  using FilterClient::FilterClient;

 private:
  void follow(const Message& request, Message& /*reply*/) override {
    if (request.kind != "finetune") client::refuse(request);
    finetune(linalg::filter_of_factor(read_factor(request)));
  }
};

class FedCiaServer : public federation::ServerMethod {
 public:
  FedCiaServer(const FilterMethodConfig& config, const ServerContext& context)
      : rounds_(config, context) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    federation::RoundNotes notes;
    const Participants participants = rounds_.train(round, federation, notes);

    const server::GlobalFilter& filter = rounds_.update_filter(participants.uploads);
    Message request{.kind = "finetune", .round = round, .arrays = {}};
    request.arrays.set("global_factor", filter.factor());
    notes.numbers["trace_kept"] = filter.trace_kept;
    if (const RoundWatcher* watcher = rounds_.watcher(round)) {
      rounds_.show(*watcher, participants);
      watcher->show_json("config",
                         "{\n" + rounds_.describe("fedcia", round, participants) + "\n}\n");
    }

    // The filter is good for everybody, whoever took part in it.
    tell_all(federation, std::move(request));
    return notes;
  }

  [[nodiscard]] NamedArrays save() const override {
    NamedArrays state;
    rounds_.save(state);
    return state;
  }
  void restore(const NamedArrays& state) override { rounds_.restore(state); }

 private:
  FilterRounds rounds_;
};
}  // namespace

Method make_fedcia() {
  return showing_rounds(describe_method<FilterMethodConfig, FedCiaServer, FedCiaClient>(
      "fedcia", "item-item filters averaged; every client fits its own embeddings to them"));
}
}  // namespace fedhur::methods
