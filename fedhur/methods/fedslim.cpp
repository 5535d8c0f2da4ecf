// FedSLIM: one sum over the clients of how often pairs of items occur together, and a sparse ridge
// regression per item on that sum. There is nothing to train: a client scores by folding in its
// users' items.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fedhur/base/sparse_sum.hpp"
#include "fedhur/client/co_occurrences.hpp"
#include "fedhur/methods/common.hpp"
#include "fedhur/methods/method.hpp"
#include "fedhur/methods/uploads.hpp"
#include "fedhur/model/sparse_linear.hpp"
#include "fedhur/server/item_neighbors.hpp"
#include "fedhur/server/sparse_filter.hpp"

namespace fedhur::methods {
namespace {
using federation::Answer;
using message::Message;
using server::CoOccurrences;

struct FedSlimConfig {
  server::SparseFilterConfig filter;
  double activity_exponent = 0.5;
  Index max_items_per_user = 0;
  bool has_plain_sums = false;
  UploadLimits limits;
};

void declare_settings(Settings& settings, FedSlimConfig& config) {
  server::SparseFilterConfig& filter = config.filter;
  settings.add("filter.neighbors", filter.neighbors, between(0, 16384),
               "items that an item's score is regressed on, those with the largest cosine; 0: all, "
               "which takes a dense matrix. Time grows with its cube, the download with itself",
               "m");
  settings.add("filter.regularization", filter.regularization, above(0),
               "added to the diagonal of every regression; rare items feel it most", "lambda");
  settings.add("filter.denoising", filter.denoising, at_least(0),
               "times its own count, added to the diagonal for every neighbour", "delta");
  settings.add("filter.popularity_correction", filter.popularity_correction, between(0, 1),
               "an item of count g has its scores multiplied by g^-gamma", "gamma");
  settings.add("filter.positive", filter.positive,
               "leaves weights below 0 out of the filter: a smaller download and model");
  settings.add(
      "filter.activity_exponent", config.activity_exponent, between(0, 1),
      "a user with n items counts n^-a in every pair: 0 counts all pairs alike, 1 all users", "a");
  settings.add(
      "filter.max_items_per_user", config.max_items_per_user, at_least(0),
      "a user's history is at most so many of its items, which the site draws; 0: all. The "
      "upload grows with its square");
  settings.add("filter.plain_sums", config.has_plain_sums,
               "whether clients over a network may send their sums in the clear; a simulation asks "
               "nobody");
  declare_size_cap(settings, config.limits);
  settings.note("upload.size_cap", "of users in place of interactions");
}

// The server sees every client's sum, not only their total.
std::string network_refusal(const FedSlimConfig& config) {
  if (config.has_plain_sums) return {};
  return "fedslim sends sums in the clear: the server learns how often every pair of items occurs "
         "together at a client, and of a client with one user that user's history; "
         "filter.plain_sums = true allows it";
}

class FoldIn : public client::Training {
 public:
  FoldIn(const FedSlimConfig& config, const client::ClientContext& context) {
    recommender_.histories =
        client::draw_items(context.train, config.max_items_per_user, context.id, context.rng);
    set_filter(std::make_shared<const SparseMatrix<Real>>(context.num_items, context.num_items));
  }
  void set_filter(Shared<SparseMatrix<Real>> filter) { recommender_.filter = std::move(filter); }
  [[nodiscard]] const data::UserItems& histories() const { return recommender_.histories; }
  [[nodiscard]] Index num_items() const { return recommender_.num_items(); }

  [[nodiscard]] const model::Recommender& recommender() const override { return recommender_; }
  [[nodiscard]] client::PrivateState model() const override {
    return client::to_state(recommender_);
  }
  [[nodiscard]] client::PrivateState save() const override { return model(); }
  void restore(const client::PrivateState& state) override {
    set_filter(state.shared_sparse("filter"));
  }

 private:
  model::SparseLinear recommender_;
};

class FedSlimClient : public client::Client {
 public:
  FedSlimClient(const FedSlimConfig& config, const client::ClientContext& context)
      : activity_exponent_(config.activity_exponent), fold_in_(config, context) {}

  Message answer(const Message& request) override {
    Message reply = reply_to(request);
    const data::UserItems& users = fold_in_.histories();
    if (request.kind == "size") {
      reply.arrays.set_number("num_users", static_cast<double>(users.num_users()));
    } else if (request.kind == "count") {
      reply.arrays.set("co_occurrences", client::count_co_occurrences(users, fold_in_.num_items(),
                                                                      activity_exponent_));
    } else if (request.kind == "update") {
      const Index num_items = fold_in_.num_items();
      fold_in_.set_filter(request.arrays.shaped_sparse<Real>("filter", num_items, num_items));
    } else {
      client::refuse(request);
    }
    return reply;
  }

 private:
  [[nodiscard]] client::Training& training() override { return fold_in_; }
  double activity_exponent_;
  FoldIn fold_in_;
};

// A client's number of users, by which it counts. Their sum over all clients has 32 bits, a user's
// weight 20, so no sum of counts exceeds 63 bits.
double read_num_users(const NamedArrays& answer, double most) {
  const double num_users = answer.number("num_users");
  if (num_users >= 0.0 && num_users <= most && num_users == std::floor(num_users)) {
    return num_users;
  }
  throw ProtocolError(fmt::format("'num_users' is {}, expected a count up to {}", num_users, most));
}

// Items occur in no more users than there are, and together in no more than alone.
void check_counts(const NamedArrays& upload, Index num_items, double num_users) {
  const auto& counts = *upload.shaped_sparse<std::int64_t>("co_occurrences", num_items, num_items);
  const auto most = static_cast<std::int64_t>(num_users) * client::kWholeUser;
  std::vector<std::int64_t> alone(static_cast<std::size_t>(num_items), 0);
  const auto refuse = [&](std::size_t entry, const char* what) {
    throw ProtocolError(fmt::format("'co_occurrences' has {} at items {} and {}: {}",
                                    counts.values()[entry], counts.row_of(entry),
                                    counts.col_of(entry), what));
  };
  for (std::size_t e = 0; e < counts.num_entries(); ++e) {
    const std::int64_t value = counts.values()[e];
    const Index row = counts.row_of(e);
    const Index col = counts.col_of(e);
    if (row > col) refuse(e, "it is below the diagonal");
    if (value < 0) refuse(e, "it is no count");
    if (row != col) continue;
    if (value > most) refuse(e, "it is more than the client's users");
    alone[static_cast<std::size_t>(row)] = value;
  }
  for (std::size_t e = 0; e < counts.num_entries(); ++e) {
    const auto row = static_cast<std::size_t>(counts.row_of(e));
    const auto col = static_cast<std::size_t>(counts.col_of(e));
    if (counts.values()[e] > std::min(alone[row], alone[col])) {
      refuse(e, "a pair is not more frequent than its items");
    }
  }
}

// A smaller item count still bounds those of its pairs, as all are rounded down.
Shared<CoOccurrences> scale_down(const CoOccurrences& counts, double factor) {
  CoOccurrences scaled(counts.rows(), counts.cols());
  scaled.reserve(counts.num_entries());
  for (std::size_t e = 0; e < counts.num_entries(); ++e) {
    const double value = std::floor(static_cast<double>(counts.values()[e]) * factor);
    scaled.append(counts.places()[e], static_cast<std::int64_t>(value));
  }
  return std::make_shared<const CoOccurrences>(std::move(scaled));
}

class FedSlimServer : public federation::ServerMethod {
 public:
  FedSlimServer(const FedSlimConfig& config, const ServerContext& context)
      : config_(config), context_(context) {}

  federation::RoundNotes run_round(Round round, federation::Federation& federation) override {
    federation::RoundNotes notes;
    const double most = federation::most_users(context_.num_clients);
    const auto sizes =
        ask_all(federation, {.kind = "size", .round = round, .arrays = {}},
                [most](const Message& answer) { (void)read_num_users(answer.arrays, most); });
    const auto sum = std::make_shared<SparseSum>(context_.num_items, context_.num_items);
    const auto counted = federation.sum(
        count_requests(sizes, round), [sum, factors = factors_of(sizes, notes)](Answer& answer) {
          const auto& own = answer.message.arrays.shared_sparse<std::int64_t>("co_occurrences");
          const double factor = factors.at(answer.client);
          sum->add(factor < 1.0 ? scale_down(*own, factor) : own);
          answer.message.arrays = {};
        });
    if (counted.empty()) {
      throw TransportError(fmt::format("round {}: no client has counted its items", round + 1));
    }
    Message update{.kind = "update", .round = round, .arrays = {}};
    update.arrays.set(
        "filter", server::fit_sparse_filter(*sum->take(), static_cast<double>(client::kWholeUser),
                                            config_.filter, *context_.executor));
    server::put_neighbors(notes.inside, *update.arrays.shared_sparse<Real>("filter"));
    const auto updated = ask_all(federation, std::move(update));
    const auto num_clients = static_cast<std::size_t>(context_.num_clients);
    is_complete_ = counted.size() == num_clients && updated.size() == num_clients;
    return notes;
  }
  // If all clients were there, another round would count the same again.
  [[nodiscard]] bool is_finished() const override { return is_complete_; }

 private:
  // Nobody's counts may be those of more users than it has.
  [[nodiscard]] std::vector<federation::Request> count_requests(const std::vector<Answer>& sizes,
                                                                Round round) const {
    const auto message =
        std::make_shared<const Message>(Message{.kind = "count", .round = round, .arrays = {}});
    std::vector<federation::Request> requests;
    for (const Answer& size : sizes) {
      const double num_users = size.message.arrays.number("num_users");
      requests.push_back({.client = size.client,
                          .message = message,
                          .check = std::make_shared<const federation::AnswerCheck>(
                              [num_items = context_.num_items, num_users](const Message& answer) {
                                check_counts(answer.arrays, num_items, num_users);
                              })});
    }
    return requests;
  }

  // By how much what a client has counted is scaled down.
  [[nodiscard]] std::map<ClientId, double> factors_of(const std::vector<Answer>& sizes,
                                                      federation::RoundNotes& notes) const {
    std::vector<double> claims;
    for (const Answer& size : sizes) claims.push_back(size.message.arrays.number("num_users"));
    const std::vector<double> limited =
        UploadReader(sizes, config_.limits, *context_.executor, notes).limit_sizes(claims, "users");
    std::map<ClientId, double> factors;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      factors[sizes[k].client] = limited[k] < claims[k] ? limited[k] / claims[k] : 1.0;
    }
    return factors;
  }

  FedSlimConfig config_;
  ServerContext context_;
  bool is_complete_ = false;
};
}  // namespace

Method make_fedslim() {
  return describe_method<FedSlimConfig, FedSlimServer, FedSlimClient>(
      "fedslim", "a sparse item-item regression on one sum over clients; nothing to train");
}
}  // namespace fedhur::methods
