#include "fedhur/server/scorer.hpp"

#include <gtest/gtest.h>

#include "fedhur/linalg/normalize.hpp"
#include "fedhur/server/retrieval.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::server {
namespace {
using tests::Dense;

// The loss in double, straight from its definition.
double loss_of(const Dense& hidden, const Dense& output, const Dense& features,
               const Eigen::VectorXd& targets) {
  double sum = 0.0;
  for (Index row = 0; row < features.rows(); ++row) {
    double score = output(0, hidden.rows());
    for (Index h = 0; h < hidden.rows(); ++h) {
      double value = hidden(h, features.cols());
      for (Index c = 0; c < features.cols(); ++c) value += hidden(h, c) * features(row, c);
      score += output(0, h) * std::max(0.0, value);
    }
    sum += (score - targets(row)) * (score - targets(row));
  }
  return sum / static_cast<double>(features.rows());
}

TEST(Scorer, HasTheGradientOfItsLoss) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const Index inputs : {1, 4}) {
      const linalg::Mlp network = {tests::random_matrix(5, inputs + 1, seed),
                                   tests::random_matrix(1, 6, seed + 10)};
      const Matrix features = tests::random_matrix(7, inputs, seed + 20);
      const Vector targets = tests::random_matrix(7, 1, seed + 30).col(0);
      linalg::Mlp gradient;
      const double loss = Scorer::loss_and_gradient(network, features, targets, gradient);
      const Dense hidden = network[0].cast<double>();
      const Dense output = network[1].cast<double>();
      const auto loss_with = [&](const Dense& h, const Dense& o) {
        return loss_of(h, o, features.cast<double>(), targets.cast<double>());
      };
      EXPECT_NEAR(loss, loss_with(hidden, output), 1e-5 * (1.0 + loss));
      constexpr double kStep = 1e-6;
      Dense by_hidden(hidden.rows(), hidden.cols());
      for (Index i = 0; i < hidden.size(); ++i) {
        Dense above = hidden;
        Dense below = hidden;
        above.data()[i] += kStep;
        below.data()[i] -= kStep;
        by_hidden.data()[i] = (loss_with(above, output) - loss_with(below, output)) / (2.0 * kStep);
      }
      tests::expect_close(gradient[0], by_hidden, 1e-4);
      Dense by_output(output.rows(), output.cols());
      for (Index i = 0; i < output.size(); ++i) {
        Dense above = output;
        Dense below = output;
        above.data()[i] += kStep;
        below.data()[i] -= kStep;
        by_output.data()[i] = (loss_with(hidden, above) - loss_with(hidden, below)) / (2.0 * kStep);
      }
      tests::expect_close(gradient[1], by_output, 1e-4);
    }
  }
}

struct Lesson {
  Matrix features = tests::random_matrix(60, 4, 1);
  Vector targets = features.col(0) - 0.5F * features.col(2).cwiseAbs();
};

TEST(Scorer, LearnsItsTargets) {
  const Lesson lesson;
  Scorer scorer(4, {}, Rng(3));
  const double first = scorer.update(lesson.features, lesson.targets);
  double last = first;
  for (int round = 0; round < 100; ++round) last = scorer.update(lesson.features, lesson.targets);
  EXPECT_LT(last, 0.05 * first);
  const double now = (scorer.refine(lesson.features) - lesson.targets).squaredNorm() / 60.0F;
  EXPECT_LE(now, last + 1e-6);
}

TEST(Scorer, IsTrainedOnceItHasLearned) {
  const Lesson lesson;
  Scorer scorer(4, {}, Rng(3));
  EXPECT_FALSE(scorer.is_trained());
  EXPECT_EQ(scorer.update(Matrix(0, 4), Vector(0)), 0.0);
  EXPECT_FALSE(scorer.is_trained());
  scorer.update(lesson.features, lesson.targets);
  EXPECT_TRUE(scorer.is_trained());
}

TEST(Scorer, GoesOnFromASavedStateAsIfNeverInterrupted) {
  const Lesson lesson;
  for (const int rounds : {0, 1, 3}) {
    Scorer before(4, {}, Rng(3));
    for (int round = 0; round < rounds; ++round) before.update(lesson.features, lesson.targets);
    NamedArrays state;
    before.save(state);
    Scorer after(4, {}, Rng(99));
    after.restore(state);
    EXPECT_EQ(after.is_trained(), rounds > 0);
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(before.update(lesson.features, lesson.targets),
                after.update(lesson.features, lesson.targets));
    }
    EXPECT_EQ(before.refine(lesson.features), after.refine(lesson.features));
  }
}

struct Scene {
  Scene() {
    for (std::uint64_t k = 0; k < 5; ++k) {
      embeddings.push_back(tests::random_matrix(3, 4, k + 1));
      queries.push_back(tests::random_matrix(3, 2, k + 50));
      linalg::normalize_columns(queries.back());
    }
    grams = pack_grams(embeddings);
  }
  [[nodiscard]] Retrieval retrieve(const Scorer& scorer, const ScorerConfig& config,
                                   const std::vector<Index>& training_targets = {}) const {
    return retrieve_candidates({.group_embeddings = embeddings, .grams = grams, .queries = queries},
                               {}, scorer, config, training_targets);
  }
  std::vector<Matrix> embeddings;
  std::vector<Matrix> queries;
  Matrix grams;
};

TEST(Scorer, LeavesScoresAloneUntilItIsTrained) {
  const Scene scene;
  const ScorerConfig config{.refinement_weight = 0.7F};
  const Retrieval retrieval = scene.retrieve(Scorer(4, config, Rng(1)), config, {0, 3});
  EXPECT_EQ(retrieval.retrieval_scores, retrieval.direct_scores);
  EXPECT_EQ(retrieval.scorer_features.rows(), 10);
  EXPECT_EQ(retrieval.score_targets.size(), 10);
}

TEST(Scorer, RefinesByItsStandardisedOpinion) {
  const Scene scene;
  const ScorerConfig config{.refinement_weight = 0.7F};
  Scorer scorer(4, config, Rng(1));
  const Lesson lesson;
  scorer.update(lesson.features, lesson.targets);
  const Retrieval retrieval = scene.retrieve(scorer, config);
  const DirectScores direct = score_candidates(scene.queries, scene.embeddings, scene.grams, true);
  for (Index k = 0; k < 5; ++k) {
    Eigen::VectorXd s = direct.scores.row(k).transpose();
    const double deviation = std::sqrt((s.array() - s.mean()).square().mean());
    Eigen::VectorXd opinion =
        scorer.refine(build_scorer_features(direct, candidate_scales(scene.embeddings), k, config))
            .cast<double>();
    opinion.array() -= opinion.mean();
    opinion /= std::sqrt(opinion.squaredNorm() / 5.0);
    tests::expect_close(Dense(retrieval.retrieval_scores.row(k).transpose()),
                        Dense(s + 0.7 * deviation * opinion));
  }
}

// A client that does not ask is still a candidate: the scores of the others do not change.
TEST(Scorer, RefinesForThoseWhoAsk) {
  const Scene all;
  Scene some;
  some.queries = {all.queries[1], all.queries[4]};
  const ScorerConfig config{.refinement_weight = 0.7F};
  Scorer scorer(4, config, Rng(1));
  const Lesson lesson;
  scorer.update(lesson.features, lesson.targets);
  const Retrieval expected = all.retrieve(scorer, config, {4});
  const Retrieval actual = some.retrieve(scorer, config, {1});
  for (const auto& [target, row] : {std::pair{0, 1}, std::pair{1, 4}}) {
    tests::expect_close(Dense(actual.retrieval_scores.row(target)),
                        Dense(expected.retrieval_scores.row(row)));
    tests::expect_close(Dense(actual.aggregation_weights.row(target)),
                        Dense(expected.aggregation_weights.row(row)));
  }
  tests::expect_close(actual.scorer_features, expected.scorer_features);
  tests::expect_close(actual.score_targets, expected.score_targets);
}

TEST(ScorerFeatures, AreStandardisedOverCandidates) {
  const Scene scene;
  const DirectScores direct = score_candidates(scene.queries, scene.embeddings, scene.grams, true);
  const Eigen::VectorXd scales = candidate_scales(scene.embeddings);
  const auto z_scores = [](Eigen::VectorXd values) {
    values.array() -= values.mean();
    return Dense(values / std::sqrt(values.squaredNorm() / static_cast<double>(values.size())));
  };
  for (Index k = 0; k < 5; ++k) {
    const Matrix all = build_scorer_features(direct, scales, k, {});
    ASSERT_EQ(all.cols(), 4);
    for (Index c = 0; c < 2; ++c) {
      Eigen::VectorXd rho(5);
      for (Index j = 0; j < 5; ++j) rho(j) = static_cast<double>(direct.strengths(k * 5 + j, c));
      tests::expect_close(all.col(c), z_scores(rho), 1e-5);
    }
    tests::expect_close(all.col(2), z_scores(scales), 1e-5);
    tests::expect_close(all.col(3), z_scores(direct.scores.row(k).transpose().cwiseSqrt()), 1e-5);
    // A subset has the same columns.
    ScorerConfig scale_alone;
    scale_alone.uses_strengths = scale_alone.uses_total = false;
    EXPECT_EQ(build_scorer_features(direct, scales, k, scale_alone), Matrix(all.col(2)));
    ScorerConfig no_scale;
    no_scale.uses_scale = false;
    EXPECT_EQ(build_scorer_features(direct, scales, k, no_scale).rightCols(1), all.rightCols(1));
  }
}

TEST(ScorerFeatures, AreZeroWhereCandidatesAreAlike) {
  Scene scene;
  for (Matrix& own : scene.embeddings) own = scene.embeddings[0];
  scene.grams = pack_grams(scene.embeddings);
  const ScorerConfig config{.refinement_weight = 0.7F};
  const Retrieval retrieval = scene.retrieve(Scorer(4, config, Rng(1)), config, {2});
  EXPECT_TRUE(retrieval.scorer_features.isZero(0.0F));
  EXPECT_TRUE(retrieval.score_targets.isZero(0.0F));
}
}  // namespace
}  // namespace fedhur::server
