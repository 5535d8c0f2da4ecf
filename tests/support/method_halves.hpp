// One half of a method at a time, with a stand-in for the other.
#pragma once
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fedhur/federation/federation.hpp"
#include "fedhur/methods/method.hpp"
#include "tests/support/fixed_uploads.hpp"
#include "tests/support/support.hpp"

namespace fedhur::tests {
using Assignments = std::vector<std::string>;

inline methods::ConfiguredMethod configure(const std::string& method,
                                           const Assignments& assignments) {
  ConfigTable table;
  for (const std::string& assignment : assignments) experiment::add_assignment(table, assignment);
  Settings settings(table);
  auto configured = methods::find_method(method).configure(settings);
  settings.reject_unknown();
  return configured;
}

// Two clients that upload fixed tables and remember what they are sent.
class FixedTables : public federation::Federation {
 public:
  [[nodiscard]] Index num_clients() const override { return 2; }
  std::vector<federation::Answer> exchange(std::span<const federation::Request> requests) override {
    return exchange_with(requests, [&](std::size_t k, const auto& asked, auto& reply) {
      if (asked.arrays.contains("item_embeddings")) {
        received = asked.arrays.matrix("item_embeddings");
      }
      if (!asks_for_uploads(asked)) return;
      reply.arrays.set("item_embeddings", uploads[k]);
      put_norms(reply.arrays);
      reply.arrays.set_number("num_interactions", data_sizes[k]);
      reply.arrays.set_number("loss_sum", 4);
      reply.arrays.set_number("num_samples", 2);
    });
  }
  std::vector<Matrix> uploads = {(Matrix(3, 2) << 1, 0, 0, 2, 1, 1).finished(),
                                 (Matrix(3, 2) << 0, 1, 2, 0, 1, -1).finished()};
  std::vector<double> data_sizes = {3, 1};
  Matrix received;
};

// The server half for two clients.
struct ServerHalf {
  explicit ServerHalf(const std::string& method, Assignments assignments = {},
                      Index num_items = 3) {
    assignments.emplace_back("model.embedding_dim=2");
    half =
        configure(method, assignments)
            .make_server(
                {.num_clients = 2, .num_items = num_items, .rng = Rng(1), .executor = &executor});
  }
  // What is wrong with the uploads of a round.
  std::string protocol_error(federation::Federation& federation) const {
    try {
      (void)half->run_round(0, federation);
    } catch (const ProtocolError& error) {
      return error.what();
    }
    return "no error";
  }
  Executor executor{2};
  std::unique_ptr<federation::ServerMethod> half;
};

inline void expect_bad_uploads_refused(const std::string& method) {
  FixedTables federation;
  EXPECT_EQ(ServerHalf(method, {}, 4).protocol_error(federation),
            "client 0: 'item_embeddings' is 3 x 2, expected 4 x 2");
  federation.uploads[1](2, 1) = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_EQ(ServerHalf(method).protocol_error(federation),
            "client 1: 'item_embeddings' holds values that are not finite");
}

inline message::Message item_message(const std::string& kind, Round round, const Matrix& items) {
  message::Message message{.kind = kind, .round = round, .arrays = {}};
  message.arrays.set("item_embeddings", items);
  return message;
}

// What a client of an averaging method says and uploads after this training.
inline NamedArrays train_and_upload(client::Client& client, const message::Message& train) {
  NamedArrays all = client.answer(train).arrays;
  const message::Message uploaded =
      client.answer({.kind = "upload", .round = train.round, .arrays = {}});
  for (const auto& [name, array] : uploaded.arrays.entries()) all.set(name, array);
  return all;
}

inline Matrix all_scores(const model::Recommender& recommender) {
  Matrix scores(recommender.num_users(), recommender.num_items());
  recommender.score(0, scores);
  return scores;
}

inline std::vector<std::string> names_of(const NamedArrays& arrays) {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays.entries()) names.push_back(name);
  return names;
}
}  // namespace fedhur::tests
