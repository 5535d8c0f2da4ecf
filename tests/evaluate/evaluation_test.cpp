#include "fedhur/evaluate/evaluation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fedhur/experiment/party.hpp"
#include "tests/support/support.hpp"
#include "tests/support/unreliable_federation.hpp"

namespace fedhur::evaluate {
namespace {
using message::Message;
using tests::UnreliableFederation;

// Recommends items in the order of their ids.
class FixedScores : public client::Training {
 public:
  [[nodiscard]] const model::Recommender& recommender() const override { return scores_; }
  [[nodiscard]] client::PrivateState model() const override { return {}; }
  [[nodiscard]] client::PrivateState save() const override { return {}; }
  void restore(const client::PrivateState& /*state*/) override {}

 private:
  model::ItemScores scores_{2, (Vector(5) << 5, 4, 3, 2, 1).finished()};
};

class FixedClient : public client::Client {
 public:
  Message answer(const Message& request) override { client::refuse(request); }

 private:
  [[nodiscard]] client::Training& training() override { return scores_; }
  FixedScores scores_;
};

struct World {
  World() {
    for (int test = 1; test < 4; ++test) {
      data::ClientData data{.users = {user_id(0), user_id(1)},
                            .train = tests::user_items({{0}, {}}),
                            .valid = tests::user_items({{1}, {}}),
                            .test = tests::user_items({{test + 1}, {test}})};
      clients.push_back(std::make_unique<experiment::Member>(
          std::make_unique<FixedClient>(), std::move(data), std::vector<Index>{1, 2},
          std::make_shared<const ItemBins>(ItemBins{0, 0, 1, 1, 2})));
      methods.push_back(clients.back().get());
    }
  }
  std::vector<std::unique_ptr<experiment::Member>> clients;
  std::vector<federation::ClientMethod*> methods;
};

Quality evaluate(UnreliableFederation& federation) {
  return evaluate_clients(federation, 0, {1, 2});
}

TEST(EvaluateClients, AddsUpWhatThoseSayWhoAnswer) {
  const World world;
  UnreliableFederation federation(world.methods);
  EXPECT_EQ(evaluate(federation).test.num_users(), 6.0);
  federation.is_absent = [](Index client, const Message&) { return client == 1; };
  const Quality quality = evaluate(federation);
  EXPECT_EQ(quality.test.num_users(), 4.0);
  EXPECT_EQ(quality.valid.num_users(), 2.0);
  EXPECT_EQ(quality.test_breakdown.num_users(), 4.0);
  EXPECT_EQ(quality.test.means().at("recall@1"), 0.25) << "item 2 of the first client's first user";
  federation.is_absent = [](Index, const Message&) { return true; };
  EXPECT_EQ(evaluate(federation).test.means().at("recall@1"), 0.0) << "no user, and no error";
}

TEST(EvaluateClients, RefusesWhatCannotBeTrue) {
  const World world;
  const auto refused = [&](const std::string& name, Index row, Index col, double value) {
    UnreliableFederation federation(world.methods);
    federation.lie = [&](Index client, Message& reply) {
      if (client != 1) return;
      MatrixOf<double> sums = reply.arrays.doubles(name);
      sums(row, col) = value;
      reply.arrays.set(name, std::move(sums));
    };
    const Quality quality = evaluate(federation);
    if (federation.refusals.empty()) {
      EXPECT_EQ(quality.test.num_users(), 6.0);
      return false;
    }
    EXPECT_EQ(quality.test.num_users(), 4.0) << "the others are judged as before";
    EXPECT_THAT(federation.refusals[0], testing::StartsWith("client 1: "));
    return true;
  };
  EXPECT_FALSE(refused("test", 0, 2, 2.0)) << "perfect recall can be";
  EXPECT_TRUE(refused("test", 0, 2, 2.1)) << "more than that cannot";
  EXPECT_TRUE(refused("valid", 1, 0, 2.0)) << "the users of one cutoff are those of the other";
  EXPECT_TRUE(refused("valid", 1, 4, -0.1));
  EXPECT_TRUE(refused("valid", 1, 4, std::nan("")));
  EXPECT_TRUE(refused("test_by_activity", 1, 0, 2.0)) << "more users than were tested";
  EXPECT_TRUE(refused("test_by_activity", 1, 1, 1.5));
  EXPECT_TRUE(refused("test_by_activity", 3, 1, 0.5)) << "precision over no users";
  EXPECT_FALSE(refused("test_by_popularity", 1, 1, 1.0));
  EXPECT_TRUE(refused("test_by_popularity", 1, 1, 2.0)) << "more hits than recommended items";
  EXPECT_TRUE(refused("test_by_popularity", 0, 1, 1.0)) << "more hits than test rows";
  EXPECT_TRUE(refused("test_by_popularity", 0, 0, 1e30));
}

TEST(EvaluateClients, RefusesHalfAUserAndMoreThanThereCanBe) {
  QualitySums sums({5});
  EXPECT_NO_THROW(sums.add_array((MatrixOf<double>(1, 5) << 7, 1, 1, 1, 1).finished()));
  EXPECT_THROW(sums.add_array((MatrixOf<double>(1, 5) << 7.5, 1, 1, 1, 1).finished()),
               ProtocolError);
  EXPECT_THROW(sums.add_array((MatrixOf<double>(1, 5) << 1e15, 1, 1, 1, 1).finished()),
               ProtocolError);
}
}  // namespace
}  // namespace fedhur::evaluate
