// Federated item counts: a floor that every learned method has to pass. It is not private: a
// client's counts are its interactions summed over its users.
#include <algorithm>

#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/methods/uploads.hpp"

namespace fedhur::methods {
namespace {
using message::Message;

struct PopularityConfig {
  UploadLimits limits;
};
void declare_settings(Settings& settings, PopularityConfig& config) {
  declare_size_cap(settings, config.limits);
}

class Counting : public client::Training {
 public:
  explicit Counting(client::ClientContext context)
      : context_(std::move(context)),
        item_scores_(context_.train.num_users(), Vector::Zero(context_.num_items)) {}

  [[nodiscard]] Index num_items() const { return context_.num_items; }
  [[nodiscard]] Matrix count() const {
    Matrix counts = Matrix::Zero(context_.num_items, 1);
    for (Index user = 0; user < context_.train.num_users(); ++user) {
      for (const ItemId item : context_.train.of(user)) counts(index_of(item), 0) += 1;
    }
    return counts;
  }
  void set_scores(ConstMatrixRef scores) {
    item_scores_ = model::ItemScores(context_.train.num_users(), Vector(scores.col(0)));
  }

  [[nodiscard]] const model::Recommender& recommender() const override { return item_scores_; }
  [[nodiscard]] client::PrivateState model() const override {
    return client::to_state(item_scores_);
  }
  [[nodiscard]] client::PrivateState save() const override { return model(); }
  void restore(const client::PrivateState& state) override { set_scores(state.matrix("scores")); }

 private:
  client::ClientContext context_;
  model::ItemScores item_scores_;
};

class PopularityClient : public client::Client {
 public:
  PopularityClient(const PopularityConfig& /*config*/, client::ClientContext context)
      : counting_(std::move(context)) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    if (request.kind == "count") {
      reply.arrays.set("counts", counting_.count());
    } else if (request.kind == "update") {
      counting_.set_scores(*request.arrays.finite_matrix("counts", counting_.num_items(), 1));
    } else {
      client::refuse(request);
    }
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return counting_; }
  Counting counting_;
};

void check_counts(const NamedArrays& upload, Index num_items) {
  const Matrix& counts = *upload.finite_matrix("counts", num_items, 1);
  const auto is_count = [](Real count) {
    return count >= 0.0F && static_cast<double>(count) <= kLargestCount;
  };
  if (std::all_of(counts.data(), counts.data() + counts.size(), is_count)) return;
  throw ProtocolError("'counts' holds numbers that are no counts");
}

class PopularityServer : public federation::ServerMethod {
 public:
  PopularityServer(const PopularityConfig& config, const ServerContext& context)
      : config_(config), context_(context) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    federation::RoundNotes notes;
    const auto answers = ask_all(federation, {.kind = "count", .round = round, .arrays = {}},
                                 [num_items = context_.num_items](const Message& answer) {
                                   check_counts(answer.arrays, num_items);
                                 });
    Message update{.kind = "update", .round = round, .arrays = {}};
    update.arrays.set("counts", add_up(answers, notes));
    const auto updated = ask_all(federation, std::move(update));
    const auto num_clients = static_cast<std::size_t>(context_.num_clients);
    is_complete_ = answers.size() == num_clients && updated.size() == num_clients;
    return notes;
  }
  // If all clients were there, another round would count the same again.
  [[nodiscard]] bool is_finished() const override { return is_complete_; }

 private:
  // A client has as many interactions as its counts say, and counts for no more than it may.
  [[nodiscard]] Matrix add_up(const std::vector<federation::Answer>& answers,
                              federation::RoundNotes& notes) const {
    std::vector<double> claims;
    for (const auto& answer : answers) {
      claims.push_back(answer.message.arrays.matrix("counts").cast<double>().sum());
    }
    const UploadReader reader(answers, config_.limits, *context_.executor, notes);
    const std::vector<double> sizes = reader.limit_sizes(claims);
    Matrix total = Matrix::Zero(context_.num_items, 1);
    for (std::size_t k = 0; k < answers.size(); ++k) {
      const Matrix& counts = answers[k].message.arrays.matrix("counts");
      if (sizes[k] < claims[k]) {
        total += counts * static_cast<Real>(sizes[k] / claims[k]);
      } else {
        total += counts;
      }
    }
    return total;
  }

  PopularityConfig config_;
  ServerContext context_;
  bool is_complete_ = false;
};
}  // namespace

Method make_popularity() {
  return describe_method<PopularityConfig, PopularityServer, PopularityClient>(
      "popularity", "item counts over all clients; a floor for comparison, not private");
}
}  // namespace fedhur::methods
