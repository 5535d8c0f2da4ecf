#include <gtest/gtest.h>

#include "fedhur/linalg/normalize.hpp"
#include "fedhur/server/personalization.hpp"
#include "fedhur/server/retrieval.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::server::weights_test {
namespace {
using tests::Dense;

// The most that one of K candidates can get: all others at the lower end of the clip.
double bound(Index K, double clip, double temperature) {
  const double high = std::exp(clip / temperature);
  return high / (high + static_cast<double>(K - 1) * std::exp(-clip / temperature));
}

TEST(Weights, SumToOneAndStayBelowTheBound) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const Index K : {1, 2, 7, 60}) {
      for (const double clip : {0.5, 3.0}) {
        for (const double temperature : {0.2, 1.0, 5.0}) {
          Dense scores = tests::random_matrix(K, K, seed).cast<double>();
          scores.col(0) *= 1e6;
          const Dense weights = weigh_candidates(scores, clip, temperature);
          for (Index k = 0; k < K; ++k) EXPECT_NEAR(weights.row(k).sum(), 1.0, 1e-12);
          EXPECT_GE(weights.minCoeff(), 0.0);
          EXPECT_LE(weights.maxCoeff(), bound(K, clip, temperature) + 1e-12);
        }
      }
    }
  }
}

TEST(Weights, OfEqualScoresAreUniform) {
  for (const Index K : {1, 2, 9}) {
    for (const double value : {0.0, 1.0, 1e-20, 1e20}) {
      const Dense weights = weigh_candidates(Dense::Constant(K, K, value), 3.0, 1.0);
      tests::expect_close(weights, Dense(Dense::Constant(K, K, 1.0 / static_cast<double>(K))),
                          1e-12);
    }
  }
}

TEST(Weights, DependOnNeitherScaleNorOffsetOfTheScores) {
  const Dense scores = tests::random_matrix(5, 5, 1).cast<double>();
  tests::expect_close(weigh_candidates((7.0 * scores).array() + 2.0, 3.0, 1.0),
                      weigh_candidates(scores, 3.0, 1.0), 1e-9);
}

TEST(Weights, GoToTheBestAsTheTemperatureFalls) {
  Dense scores(1, 3);
  scores << 1.0, 3.0, 2.0;
  EXPECT_GT(weigh_candidates(scores, 3.0, 0.01)(0, 1), 0.999);
  const Dense warm = weigh_candidates(scores, 3.0, 1e6);
  EXPECT_NEAR(warm(0, 1), 1.0 / 3.0, 1e-5);
  EXPECT_GT(warm(0, 1), warm(0, 2));
}

struct Scene {
  explicit Scene(Index num_clients) {
    for (Index k = 0; k < num_clients; ++k) {
      const auto seed = static_cast<std::uint64_t>(k);
      embeddings.push_back(tests::random_matrix(4, 3, seed + 1));
      queries.push_back(tests::random_matrix(4, 2, seed + 5000));
      linalg::normalize_columns(queries.back());
    }
  }
  [[nodiscard]] Retrieval retrieve(const RetrievalConfig& config) const {
    const ScorerConfig scorer_config{.refinement_weight = 0.0F};
    return retrieve_candidates(
        {.group_embeddings = embeddings, .grams = pack_grams(embeddings), .queries = queries},
        config, Scorer(4, scorer_config, Rng(1)), scorer_config, {});
  }
  std::vector<Matrix> embeddings;
  std::vector<Matrix> queries;
};

TEST(Weights, AreNotTakenByAClientThatBlowsUpItsEmbeddings) {
  constexpr Index kClients = 100;
  Scene scene(kClients);
  scene.embeddings[17] *= 1000.0F;
  const Dense clipped = scene.retrieve({.clip = 3.0}).aggregation_weights;
  EXPECT_LE(clipped.maxCoeff(), bound(kClients, 3.0, 1.0));
  EXPECT_LE(clipped.col(17).maxCoeff(), 0.2);
  // What the clip is for: without it all would follow that client.
  const Dense open = scene.retrieve({.clip = 1e9}).aggregation_weights;
  EXPECT_GT(open.col(17).minCoeff(), 0.99);
}

TEST(Weights, EarnNothingBySizeWhereScoresAreNormalised) {
  for (const Relation relation : {Relation::utility, Relation::common}) {
    const RetrievalConfig config{.relation = relation, .normalize = Normalize::energy};
    Scene scene(6);
    const Retrieval before = scene.retrieve(config);
    scene.embeddings[3] *= 64.0F;
    EXPECT_EQ(scene.retrieve(config).aggregation_weights, before.aggregation_weights);
    EXPECT_NE(before.aggregation_weights,
              scene.retrieve({.relation = relation}).aggregation_weights);
  }
}

TEST(Weights, OfOthersAloneAreThoseWithoutTheTarget) {
  Dense scores(2, 4);
  scores << 9, 1, 2, 4, 3, 5, 7, 1;
  const std::vector<Index> places = {0, 2};
  const Dense weights = weigh_others(scores, places, 3.0, 0.5);
  Dense others(2, 3);
  others << 1, 2, 4, 3, 5, 1;
  const Dense expected = weigh_candidates(others, 3.0, 0.5);
  EXPECT_EQ(weights(0, 0), 0.0);
  EXPECT_EQ(weights.row(0).tail(3), expected.row(0));
  EXPECT_EQ(weights(1, 2), 0.0);
  EXPECT_EQ(weights.row(1).head(2), expected.row(1).head(2));
  EXPECT_EQ(weights(1, 3), expected(1, 2));
  EXPECT_EQ(weigh_others(Dense::Constant(1, 1, 4.0), std::vector<Index>{0}, 3.0, 0.5),
            Dense(Dense::Ones(1, 1)));
}

TEST(Weights, LeaveOutTheTargetWhereItIsNotAmongItsCandidates) {
  const Scene scene(5);
  const std::vector<Index> places = {0, 1, 2, 3, 4};
  const ScorerConfig scorer_config{.refinement_weight = 0.0F};
  const Matrix grams = pack_grams(scene.embeddings);
  for (const Relation relation : {Relation::utility, Relation::common, Relation::similarity}) {
    const Dense weights = retrieve_candidates({.group_embeddings = scene.embeddings,
                                               .grams = grams,
                                               .queries = scene.queries,
                                               .places = places},
                                              {.relation = relation, .has_itself = false},
                                              Scorer(4, scorer_config, Rng(1)), scorer_config, {})
                              .aggregation_weights;
    EXPECT_EQ(weights.diagonal(), Eigen::VectorXd::Zero(5));
    EXPECT_NEAR(weights.sum(), 5.0, 1e-9);
    EXPECT_GT(weights(0, 1), 0.0);
  }
}

TEST(Weights, AreSettledForTheControlsAndUniformForNone) {
  const Scene scene(4);
  const Dense of_one =
      scene.retrieve({.relation = Relation::candidate, .candidate = 2}).aggregation_weights;
  EXPECT_EQ(of_one.col(2), Eigen::VectorXd::Ones(4));
  EXPECT_EQ(of_one.sum(), 4.0);
  EXPECT_EQ(scene.retrieve({.relation = Relation::own}).aggregation_weights,
            Dense(Dense::Identity(4, 4)));
  tests::expect_close(scene.retrieve({.relation = Relation::none}).aggregation_weights,
                      Dense(Dense::Constant(4, 4, 0.25)), 1e-12);
}

TEST(Weights, AreOneSetForAllTargetsWhereTheRelationIsCommon) {
  const Scene scene(5);
  const Retrieval utility = scene.retrieve({.relation = Relation::utility});
  const Retrieval common = scene.retrieve({.relation = Relation::common});
  EXPECT_EQ(common.direct_scores, utility.direct_scores);
  Dense means = Dense::Zero(1, 5);
  for (Index k = 0; k < 5; ++k) means += utility.direct_scores.row(k) / 5.0;
  const Dense expected = weigh_candidates(means, 3.0, 1.0);
  for (Index k = 0; k < 5; ++k) {
    tests::expect_close(common.retrieval_scores.row(k), means, 1e-12);
    tests::expect_close(common.aggregation_weights.row(k), expected, 1e-12);
    EXPECT_EQ(common.aggregation_weights.row(k), common.aggregation_weights.row(0));
  }
  EXPECT_GT((expected.array() - 0.2).abs().maxCoeff(), 0.01);  // not those of none
  EXPECT_GT((utility.aggregation_weights.row(0) - expected).cwiseAbs().maxCoeff(), 0.01);
}

TEST(Weights, AreCommonAfterTheScorerHasRefinedThem) {
  const Scene scene(5);
  const ScorerConfig scorer_config{.refinement_weight = 0.5F};
  Scorer scorer(scorer_config.num_features(2), scorer_config, Rng(1));
  const Matrix features = tests::random_matrix(20, 4, 1);
  scorer.update(features, features.col(0));
  const auto scores = [&](Relation relation) {
    return retrieve_candidates({.group_embeddings = scene.embeddings,
                                .grams = pack_grams(scene.embeddings),
                                .queries = scene.queries},
                               {.relation = relation}, scorer, scorer_config, {1, 3});
  };
  const Retrieval utility = scores(Relation::utility);
  const Retrieval common = scores(Relation::common);
  EXPECT_NE(utility.retrieval_scores, utility.direct_scores);
  const Dense means = utility.retrieval_scores.colwise().mean();
  for (Index k = 0; k < 5; ++k) {
    tests::expect_close(common.retrieval_scores.row(k), means, 1e-12);
  }
  EXPECT_EQ(common.scorer_features, utility.scorer_features);
}

TEST(Weights, OfASingleClientAreOne) {
  const Scene scene(1);
  for (const char* name : names_of(Relation{})) {
    const Retrieval retrieval = scene.retrieve({.relation = *value_named<Relation>(name)});
    EXPECT_EQ(retrieval.aggregation_weights, Dense(Dense::Ones(1, 1))) << name;
  }
}

TEST(Weights, OfClientsWithNothingAreUniform) {
  Scene scene(3);
  for (Matrix& own : scene.embeddings) own.setZero();
  for (const Relation relation : {Relation::similarity, Relation::complementarity, Relation::both,
                                  Relation::utility, Relation::common}) {
    tests::expect_close(scene.retrieve({.relation = relation}).aggregation_weights.col(0),
                        Dense(Dense::Constant(3, 1, 1.0 / 3.0)), 1e-9);
  }
}

TEST(RelationEntropy, IsAShareOfTheLargestPossible) {
  EXPECT_NEAR(relation_entropy(Dense::Constant(4, 4, 0.25)), 1.0, 1e-12);
  EXPECT_EQ(relation_entropy(Dense::Identity(4, 4)), 0.0);
  EXPECT_EQ(relation_entropy(Dense::Ones(1, 1)), 1.0);
}
}  // namespace
}  // namespace fedhur::server::weights_test
