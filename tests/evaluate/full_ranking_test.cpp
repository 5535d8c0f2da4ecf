#include "fedhur/evaluate/full_ranking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "fedhur/base/error.hpp"
#include "fedhur/model/matrix_factorization.hpp"
#include "tests/support/support.hpp"

namespace fedhur::evaluate {
namespace {
using tests::items;

TEST(Metrics, HaveTheValuesOfTheSpecification) {
  const auto ranked = items({7, 3, 9, 1, 5, 0, 2, 8, 6, 4});
  const auto check = [&](const std::vector<int>& truth, double recall, double mrr, double ndcg) {
    QualitySums sums({5});
    sums.add(ranked, items(truth));
    const Metrics quality = sums.means();
    EXPECT_NEAR(quality.at("recall@5"), recall, 1e-9);
    EXPECT_NEAR(quality.at("mrr@5"), mrr, 1e-9);
    EXPECT_NEAR(quality.at("ndcg@5"), ndcg, 1e-9);
    EXPECT_EQ(quality.size(), all_metrics().size());
  };
  check({3, 5, 11}, 0.666666667, 0.5, 0.477623704);
  check({7}, 1, 1, 1);
  check({20, 21}, 0, 0, 0);
  check({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 0.416666667, 1, 1);
  // A user's sums: 1, then the metrics in the order of the table.
  ASSERT_EQ(summed_metrics().front().name, "precision");
  EXPECT_NEAR(judge(ranked, items({3, 5, 11}), 5)(1), 0.4, 1e-12);
}

TEST(Metrics, AreListedByCutoffAndThenAsTheTableSays) {
  const Metrics some = {{"ndcg@20", 0}, {"f1@5", 0}, {"mrr@5", 0}, {"recall@20", 0}, {"new@5", 0}};
  EXPECT_EQ(
      metric_names({some, {{"recall@5", 0}}}),
      (std::vector<std::string>{"recall@5", "mrr@5", "f1@5", "new@5", "recall@20", "ndcg@20"}));
  EXPECT_EQ(headline_metric(some, "recall"), "recall@20");
  EXPECT_EQ(headline_metric({{"ndcg@5", 0}, {"ndcg@10", 0}}, "ndcg"), "ndcg@10");
  EXPECT_EQ(metric_label("ndcg@20"), "NDCG@20");
  EXPECT_EQ(metric_label("new"), "new");
}

TEST(Metrics, HaveARowOfTheTableWithSumsBeforeWhatIsMadeOfThem) {
  const auto metrics = all_metrics();
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    EXPECT_EQ(metrics[i].of_list != nullptr, i < summed_metrics().size()) << metrics[i].name;
    EXPECT_NE(metrics[i].of_list == nullptr, metrics[i].of_means == nullptr) << metrics[i].name;
    EXPECT_EQ(find_metric(metrics[i].name), &metrics[i]) << "names are unique";
  }
}

TEST(Metrics, AreMeansOverUsersAndF1OfTheMeans) {
  QualitySums sums({1, 2});
  sums.add(items({4, 5}), items({4}));
  sums.add(items({1, 2}), items({2, 7}));
  const auto means = sums.means();
  EXPECT_DOUBLE_EQ(means.at("recall@1"), 0.5);
  EXPECT_DOUBLE_EQ(means.at("recall@2"), 0.75);
  EXPECT_DOUBLE_EQ(means.at("precision@2"), 0.5);
  EXPECT_DOUBLE_EQ(means.at("mrr@2"), 0.75);
  EXPECT_DOUBLE_EQ(means.at("f1@2"), 2 * 0.5 * 0.75 / 1.25);
  EXPECT_DOUBLE_EQ(QualitySums({3}).means().at("f1@3"), 0.0);
}

TEST(Metrics, LeaveAClientAsSumsAndRefuseImplausibleOnes) {
  QualitySums client({5});
  client.add(items({1, 2, 3}), items({3}));
  QualitySums server({5});
  server.add_array(client.to_array());
  EXPECT_EQ(server.means(), client.means());
  MatrixOf<double> bad = client.to_array();
  bad(0, 2) = 1.5;  // more recall than users
  EXPECT_THROW(server.add_array(bad), ProtocolError);
  bad(0, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(server.add_array(bad), ProtocolError);
  EXPECT_THROW(server.add_array(MatrixOf<double>::Zero(2, 5)), ProtocolError);
}

TEST(TopItems, BreaksTiesByAscendingId) {
  const std::vector<Real> scores = {1, 3, 3, 0, 3, 2};
  EXPECT_EQ(top_items(scores, 4), items({1, 2, 4, 5}));
  EXPECT_EQ(top_items(std::vector<Real>(200, 0.5F), 3), items({0, 1, 2}));
}

TEST(TopItems, NeverContainsMaskedItems) {
  std::vector<Real> scores = {5, 4, 3};
  mask(scores, items({0, 2}));
  EXPECT_EQ(top_items(scores, 3), items({1}));
  mask(scores, items({1}));
  EXPECT_TRUE(top_items(scores, 3).empty());
}

TEST(TopItems, RefusesNaN) {
  std::vector<Real> scores(100, 1);
  scores[70] = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_THROW((void)top_items(scores, 3), Error);
}

// The exact twin: sort everything.
std::vector<ItemId> sorted_items(const std::vector<Real>& scores, Index k) {
  std::vector<ItemId> order;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] != -std::numeric_limits<Real>::infinity())
      order.push_back(item_id(static_cast<Index>(i)));
  }
  std::stable_sort(order.begin(), order.end(), [&](ItemId a, ItemId b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  order.resize(std::min(order.size(), static_cast<std::size_t>(k)));
  return order;
}

TEST(TopItems, EqualsAFullSortOnRandomScoresWithTies) {
  Rng rng(1);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<Real> scores(1 + rng.below(300));
    const std::uint64_t levels = 1 + rng.below(60);  // few levels: many ties
    for (Real& score : scores) score = static_cast<Real>(rng.below(levels)) - 5;
    for (Real& score : scores) {
      if (rng.below(5) == 0) score = -std::numeric_limits<Real>::infinity();
    }
    const auto k = static_cast<Index>(1 + rng.below(20));
    ASSERT_EQ(top_items(scores, k), sorted_items(scores, k)) << trial;
  }
}

TEST(RankAllUsers, MasksTrainForValidationAndBothForTest) {
  // Scores fall with the id, the same for both users.
  const model::ItemScores recommender(2, (Vector(5) << 5, 4, 3, 2, 1).finished());
  const data::ClientData data{.users = {user_id(0), user_id(1)},
                              .train = tests::user_items({{0}, {}}),
                              .valid = tests::user_items({{1}, {}}),
                              .test = tests::user_items({{2}, {4}})};
  const Quality quality = rank_all_users(recommender, data, {1});
  EXPECT_EQ(quality.valid.num_users(), 1);  // the second user has no validation rows
  EXPECT_EQ(quality.valid.means().at("recall@1"), 1.0);
  EXPECT_EQ(quality.test.num_users(), 2);  // also the user without training rows
  EXPECT_EQ(quality.test.means().at("recall@1"), 0.5);
}

TEST(RankAllUsers, EqualsRankingUserByUser) {
  model::MatrixFactorization model;
  model.user_vectors = tests::random_matrix(77, 6, 1);  // more than one block of users
  model.item_embeddings = std::make_shared<const Matrix>(tests::random_matrix(131, 6, 2));
  Rng rng(5);
  std::array<std::vector<std::vector<ItemId>>, 3> parts;
  for (auto& part : parts) part.resize(77);
  for (std::size_t user = 0; user < 77; ++user) {
    for (int item = 0; item < 131; ++item) {
      const auto part = rng.below(12);
      if (part < 3) parts[part][user].push_back(item_id(item));
    }
  }
  const data::ClientData data{.users = std::vector<UserId>(77),
                              .train = data::UserItems(parts[0]),
                              .valid = data::UserItems(parts[1]),
                              .test = data::UserItems(parts[2])};
  QualitySums valid({3, 10});
  QualitySums test({3, 10});
  for (Index user = 0; user < 77; ++user) {
    std::vector<Real> scores(131);
    for (Index item = 0; item < 131; ++item) {
      scores[static_cast<std::size_t>(item)] =
          model.user_vectors.row(user).dot(model.item_embeddings->row(item));
    }
    mask(scores, data.train.of(user));
    valid.add(sorted_items(scores, 10), data.valid.of(user));
    mask(scores, data.valid.of(user));
    test.add(sorted_items(scores, 10), data.test.of(user));
  }
  const Quality quality = rank_all_users(model, data, {3, 10});
  EXPECT_EQ(quality.valid.means(), valid.means());
  EXPECT_EQ(quality.test.means(), test.means());
}
}  // namespace
}  // namespace fedhur::evaluate
