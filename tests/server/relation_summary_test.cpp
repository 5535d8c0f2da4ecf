#include "fedhur/server/relation_summary.hpp"

#include <gtest/gtest.h>

#include "tests/support/support.hpp"

namespace fedhur::server {
namespace {
using Weights = MatrixOf<double>;

// Positive, rows sum to one.
Weights random_weights(Index num_clients, std::uint64_t seed) {
  Weights weights = tests::random_matrix(num_clients, num_clients, seed).cast<double>();
  weights = weights.array().exp();
  for (Index k = 0; k < num_clients; ++k) weights.row(k) /= weights.row(k).sum();
  return weights;
}

TEST(WeightBin, HasTwoBinsToADoubling) {
  EXPECT_EQ(weight_bin(0.0), 0);
  EXPECT_EQ(weight_bin(1e-300), 0);
  EXPECT_EQ(weight_bin(1e300), kWeightBins - 1);
  for (Index bin = 1; bin < kWeightBins; ++bin) {
    EXPECT_EQ(weight_bin(first_of_weight_bin(bin) * 1.0001), bin);
    EXPECT_EQ(weight_bin(first_of_weight_bin(bin) * 0.9999), bin - 1);
  }
  EXPECT_EQ(first_of_weight_bin(weight_bin(1.0)), 1.0);
}

TEST(SummarizeWeights, KeepsTheWeightsOfFewClients) {
  const Weights weights = random_weights(7, 1);
  const WeightSummary summary = summarize_weights(weights);
  EXPECT_EQ(summary.blocks, weights.cast<Real>());
  EXPECT_EQ(summary.counts.sum(), 7.0 * 6.0) << "own weights are not among them";
  EXPECT_NEAR(summary.own, weights.diagonal().mean(), 1e-12);
}

TEST(SummarizeWeights, AveragesOverBlocksOfManyClients) {
  for (const Index K : {128, 129, 300}) {
    const Weights weights = random_weights(K, 2);
    const WeightSummary summary = summarize_weights(weights);
    const Index size = clients_per_block(K);
    const Index side = summary.blocks.rows();
    ASSERT_LE(side, 128);
    ASSERT_EQ(side, (K + size - 1) / size);
    for (const Index row : {Index{0}, side - 1}) {
      for (const Index col : {Index{1}, side - 1}) {
        const auto block = weights.block(row * size, col * size, std::min(size, K - row * size),
                                         std::min(size, K - col * size));
        EXPECT_NEAR(summary.blocks(row, col), block.mean(), 1e-6);
      }
    }
    EXPECT_EQ(summary.counts.sum(), static_cast<double>(K * (K - 1)));
  }
}

TEST(SummarizeWeights, OfALonelyClientAreItsOwn) {
  const WeightSummary summary = summarize_weights(Weights::Ones(1, 1));
  EXPECT_EQ(summary.own, 1.0);
  EXPECT_EQ(summary.counts.sum(), 0.0);
}

TEST(CommonShare, IsWhatTheMeanRowExplains) {
  Weights alike(3, 3);
  alike << 0.5, 0.3, 0.2, 0.5, 0.3, 0.2, 0.5, 0.3, 0.2;
  EXPECT_EQ(common_share(alike), 1.0);
  EXPECT_EQ(common_share(Weights::Constant(4, 4, 0.25)), 1.0) << "there is nothing to explain";
  EXPECT_EQ(common_share(Weights::Ones(1, 1)), 1.0);
  EXPECT_NEAR(common_share(Weights::Identity(3, 3)), 0.0, 1e-12) << "each has its own alone";
  // Around an equal share of 1/2 the rows are +-.4 and +-.2; the mean row is +-.3.
  Weights mixed(2, 2);
  mixed << 0.9, 0.1, 0.7, 0.3;
  EXPECT_NEAR(common_share(mixed), 2.0 * 0.09 / (0.16 + 0.04), 1e-12);
  EXPECT_EQ(summarize_weights(mixed).common, common_share(mixed));
}

TEST(CommonShare, IsOfAllPairsHoweverManyClients) {
  const Weights weights = random_weights(300, 3);
  const double K = 300.0;
  double explained = 0.0;
  for (Index j = 0; j < 300; ++j) explained += K * std::pow(weights.col(j).mean() - 1.0 / K, 2);
  const double all = (weights.array() - 1.0 / K).square().sum();
  EXPECT_NEAR(summarize_weights(weights).common, explained / all, 1e-9);
}

TEST(PutSummaries, AveragesTheScopesOfALevel) {
  std::vector<WeightSummary> scopes;
  for (const std::uint64_t seed : {1, 2, 3}) {
    scopes.push_back(summarize_weights(random_weights(5, seed)));
  }
  NamedArrays arrays;
  put_summaries(arrays, scopes, std::vector<Index>{0, 1, 1});
  const Matrix& blocks = arrays.matrix("weight_blocks");
  ASSERT_EQ(blocks.rows(), 10);
  EXPECT_EQ(blocks.topRows(5), scopes[0].blocks);
  EXPECT_TRUE(blocks.bottomRows(5).isApprox(0.5F * (scopes[1].blocks + scopes[2].blocks), 1e-6F));
  EXPECT_EQ(arrays.doubles("weight_counts").row(1),
            (scopes[1].counts + scopes[2].counts).transpose());
  EXPECT_NEAR(arrays.doubles("own_weights")(1), 0.5 * (scopes[1].own + scopes[2].own), 1e-12);
  EXPECT_EQ(arrays.doubles("common_weights")(0), scopes[0].common);
  EXPECT_NEAR(arrays.doubles("common_weights")(1), 0.5 * (scopes[1].common + scopes[2].common),
              1e-12);
}
}  // namespace
}  // namespace fedhur::server
