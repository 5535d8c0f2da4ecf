// Federated item counts: a floor that every learned method has to pass. It is not private: a
// client's counts are its interactions summed over its users.
#include "fedhur/base/stopwatch.hpp"
#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"

namespace fedhur::methods {
namespace {
using message::Message;

struct PopularityConfig {};
void read_settings(ConfigTable& /*table*/, PopularityConfig& /*config*/) {}

class PopularityClient : public client::Client {
 public:
  PopularityClient(const PopularityConfig& /*config*/, client::ClientContext context)
      : context_(std::move(context)),
        item_scores_(context_.train.num_users(), Vector::Zero(context_.num_items)) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    if (request.kind == "count") {
      Matrix counts = Matrix::Zero(context_.num_items, 1);
      for (Index user = 0; user < context_.train.num_users(); ++user) {
        for (const ItemId item : context_.train.of(user)) counts(index_of(item), 0) += 1;
      }
      reply.arrays.set("counts", std::move(counts));
    } else if (request.kind == "update") {
      set_scores(*request.arrays.finite_matrix("counts", context_.num_items, 1));
    } else {
      client::refuse(request);
    }
    return reply;
  }

  [[nodiscard]] const model::Recommender& recommender() const override { return item_scores_; }
  [[nodiscard]] client::PrivateState model() const override {
    client::PrivateState state("item_scores");
    state.set_number("num_users", static_cast<double>(item_scores_.num_users()));
    state.set("scores", Matrix(item_scores_.scores()));
    return state;
  }
  [[nodiscard]] client::PrivateState save() const override { return model(); }
  void restore(const client::PrivateState& state) override { set_scores(state.matrix("scores")); }

 private:
  void set_scores(ConstMatrixRef scores) {
    item_scores_ = model::ItemScores(context_.train.num_users(), Vector(scores.col(0)));
  }
  client::ClientContext context_;
  model::ItemScores item_scores_;
};

class PopularityServer : public federation::ServerMethod {
 public:
  PopularityServer(const PopularityConfig& /*config*/, const ServerContext& context)
      : context_(context) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    const Stopwatch watch;
    Matrix total = Matrix::Zero(context_.num_items, 1);
    for (const auto& answer :
         ask_all(federation, {.kind = "count", .round = round, .arrays = {}})) {
      total += *uploaded(answer, [&](const NamedArrays& arrays) {
        return arrays.finite_matrix("counts", context_.num_items, 1);
      });
    }
    Message update{.kind = "update", .round = round, .arrays = {}};
    update.arrays.set("counts", std::move(total));
    (void)ask_all(federation, std::move(update));
    return {.loss = 0.0, .seconds = {{"server", watch.seconds()}}, .numbers = {}};
  }
  // Another round would count the same again.
  [[nodiscard]] bool is_finished() const override { return true; }

 private:
  ServerContext context_;
};
}  // namespace

Method make_popularity() {
  return describe_method<PopularityConfig, PopularityServer, PopularityClient>(
      "popularity", "item counts over all clients; a floor for comparison, not private");
}
}  // namespace fedhur::methods
