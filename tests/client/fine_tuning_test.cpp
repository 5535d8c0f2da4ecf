#include "fedhur/client/fine_tuning.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedhur/linalg/symmetric.hpp"
#include "tests/support/decompositions.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/filters.hpp"
#include "tests/support/support.hpp"

namespace fedhur::client {
namespace {
using linalg::ItemFilter;
using tests::Dense;
using tests::expect_close;
using tests::widen;

double dense_distance(const Dense& E, const Dense& S) { return tests::distance(tests::gram(E), S); }

FineTuningConfig by_gradient(Index steps) {
  return {.solver = FineTuneSolver::gradient, .steps = steps, .learning_rate = 0.1F};
}

template <class Check>
void for_cases(const Check& check) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (const Index rank : {3, 5, 9}) {  // narrower than the embeddings, as wide, wider
      SCOPED_TRACE(fmt::format("rank {}, seed {}", rank, seed));
      const tests::PersonalizedCase scene(6, 21, 5, rank, 0.3F, seed);
      check(scene.embeddings(), scene.filter);
      ItemFilter without_blocks = scene.filter;
      without_blocks.blocks.clear();
      check(scene.embeddings(), without_blocks);
    }
  }
}

TEST(FineTuning, ExactlyIsNeverWorseThanByGradient) {
  for_cases([](const Matrix& E, const ItemFilter& filter) {
    const Dense S = tests::dense_filter(filter);
    const double exact = dense_distance(widen(finetune_exactly(E, filter, 300)), S);
    for (const Index steps : {100, 500}) {
      const double stepped =
          dense_distance(widen(finetune_by_gradient(E, filter, by_gradient(steps))), S);
      EXPECT_LE(exact, stepped + 1e-4) << steps;
    }
    EXPECT_LE(exact, dense_distance(widen(E), S) + 1e-4);
  });
}

TEST(FineTuning, ExactlyIsTheBestThereIs) {
  for_cases([](const Matrix& E, const ItemFilter& filter) {
    const Dense S = tests::dense_filter(filter);
    const double exact = dense_distance(widen(finetune_exactly(E, filter, 300)), S);
    const double best = tests::distance(tests::best_approximation(S, E.cols()), S);
    EXPECT_NEAR(exact, best, 1e-3 * (1.0 + best));
  });
}

TEST(FineTuning, ByGradientLowersTheDistance) {
  for_cases([](const Matrix& E, const ItemFilter& filter) {
    const Dense S = tests::dense_filter(filter);
    EXPECT_LT(dense_distance(widen(finetune_by_gradient(E, filter, by_gradient(100))), S),
              dense_distance(widen(E), S));
  });
}

TEST(FineTuning, ExactlyTakesTheRotationNearestToThePresent) {
  for_cases([](const Matrix& E, const ItemFilter& filter) {
    const Dense tuned = widen(finetune_exactly(E, filter, 50));
    const Dense present = widen(E);
    const double nearest = tests::distance(tuned, present);
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const Dense any = widen(tests::random_basis(E.cols(), E.cols(), seed));
      EXPECT_GE(tests::distance(tests::product(tuned, any), present), nearest - 1e-5);
      // A small rotation: the orthogonal factor of the identity and a little noise.
      Dense noisy = 0.02 * widen(tests::random_matrix(E.cols(), E.cols(), seed));
      noisy.diagonal().array() += 1.0;
      const Dense little = tests::orthogonal_factor(noisy);
      EXPECT_GE(tests::distance(tests::product(tuned, little), present), nearest - 1e-5);
    }
  });
}

TEST(FineTuning, ByGradientStepsDownTheNumericalGradient) {
  for_cases([](const Matrix& E, const ItemFilter& filter) {
    const Dense S = tests::dense_filter(filter);
    constexpr Real kRate = 0.01F;  // a step is linear in the rate: any will do
    const Matrix stepped = finetune_by_gradient(
        E, filter, {.solver = FineTuneSolver::gradient, .steps = 1, .learning_rate = kRate});
    const Dense used = widen(E - stepped) / static_cast<double>(kRate);
    Dense numerical(E.rows(), E.cols());
    constexpr double kStep = 1e-5;
    for (Index i = 0; i < E.size(); ++i) {
      Dense above = widen(E);
      Dense below = widen(E);
      above.data()[i] += kStep;
      below.data()[i] -= kStep;
      numerical.data()[i] = (dense_distance(above, S) - dense_distance(below, S)) / (2.0 * kStep);
    }
    expect_close(used, numerical, 2e-4);
    // And that of distance() itself, as far as floats show it.
    for (Index i = 0; i < E.size(); i += 7) {
      Matrix above = E;
      Matrix below = E;
      above.data()[i] += 0.02F;
      below.data()[i] -= 0.02F;
      const double slope =
          (linalg::distance(above, filter) - linalg::distance(below, filter)) / 0.04;
      EXPECT_NEAR(slope, numerical.data()[i], 0.02 * (1.0 + numerical.cwiseAbs().maxCoeff()));
    }
  });
}

TEST(FineTuning, ByGradientDecaysTheWeights) {
  const tests::PersonalizedCase scene(3, 9, 2, 4, 0.3F, 1);
  FineTuningConfig config = by_gradient(1);
  const Matrix plain = finetune_by_gradient(scene.embeddings(), scene.filter, config);
  config.weight_decay = 0.5F;
  const Matrix decayed = finetune_by_gradient(scene.embeddings(), scene.filter, config);
  expect_close(decayed, plain - 0.1F * 0.5F * scene.embeddings(), 1e-6);
  EXPECT_EQ(finetune_by_gradient(scene.embeddings(), scene.filter, by_gradient(0)),
            scene.embeddings());
}

TEST(FineTuning, GoesTheConfiguredPartOfTheWay) {
  const tests::PersonalizedCase scene(4, 13, 3, 4, 0.3F, 2);
  const Matrix& E = scene.embeddings();
  for (const FineTuneSolver solver : {FineTuneSolver::exact, FineTuneSolver::gradient}) {
    FineTuningConfig config{.solver = solver};
    const Matrix whole = finetune(E, scene.filter, config);
    EXPECT_EQ(whole, solver == FineTuneSolver::exact
                         ? finetune_exactly(E, scene.filter, config.passes)
                         : finetune_by_gradient(E, scene.filter, config));
    config.step = 0.25F;
    expect_close(finetune(E, scene.filter, config), 0.75F * E + 0.25F * whole, 1e-6);
  }
}

TEST(FineTuning, StaysWhereTheFilterIsItsOwn) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    // Orthogonal columns times a rotation: E E^T has a factor with orthogonal columns.
    const Matrix factor = tests::random_basis(11, 3, seed);
    const Matrix E = factor * tests::random_basis(3, 3, seed + 9);
    const ItemFilter filter = linalg::filter_of_factor(factor);
    expect_close(finetune_exactly(E, filter, 2), E, 1e-5);
    EXPECT_LE((finetune_by_gradient(E, filter, by_gradient(1)) - E).norm(), 0.5F);
  }
}

// Items without ratings, columns that repeat, more columns than items, one item at all.
TEST(FineTuning, TakesDegenerateEmbeddings) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const tests::PersonalizedCase scene(4, 15, 4, 4, 0.3F, seed);
    Matrix repeated = scene.embeddings();
    repeated.col(3) = repeated.col(0);
    repeated.row(5).setZero();
    for (const Matrix& E : {repeated, Matrix(Matrix::Zero(15, 4))}) {
      const Matrix tuned = finetune_exactly(E, scene.filter, 300);
      ASSERT_TRUE(tuned.allFinite());
      const Dense S = tests::dense_filter(scene.filter);
      EXPECT_NEAR(dense_distance(widen(tuned), S),
                  tests::distance(tests::best_approximation(S, 4), S), 2e-3);
      ASSERT_TRUE(finetune_by_gradient(E, scene.filter, by_gradient(20)).allFinite());
    }
    const tests::PersonalizedCase one_item(3, 1, 4, 0, 0.3F, seed);
    const Matrix tuned = finetune_exactly(one_item.embeddings(), one_item.filter, 2);
    const double target = tests::dense_filter(one_item.filter)(0, 0);
    EXPECT_NEAR(static_cast<double>(tuned.squaredNorm()), std::max(0.0, target), 1e-4);
  }
}

TEST(FineTuning, TowardsNothingGivesNothing) {
  const ItemFilter nothing = linalg::filter_of_factor(Matrix::Zero(7, 3));
  const Matrix E = tests::random_matrix(7, 3, 1);
  EXPECT_TRUE(finetune_exactly(E, nothing, 2).isZero(0.0F));
  EXPECT_TRUE(finetune_exactly(Matrix::Zero(7, 3), nothing, 2).isZero(0.0F));
  EXPECT_TRUE(finetune_by_gradient(Matrix::Zero(7, 3), nothing, by_gradient(5)).isZero(0.0F));
  EXPECT_TRUE(finetune_exactly(E, linalg::filter_of_factor(Matrix(7, 0)), 2).isZero(0.0F));
}

TEST(FineTuning, RefusesSettingsOutOfRange) {
  for (const std::string assignment :
       {"finetune.passes=0", "finetune.steps=-1", "finetune.learning_rate=0",
        "finetune.weight_decay=-1", "finetune.step=0", "finetune.step=1.5",
        "finetune.solver=newton"}) {
    ConfigTable table;
    experiment::add_assignment(table, assignment);
    Settings settings(table);
    FineTuningConfig config;
    try {
      declare_settings(settings, config);
      FAIL() << assignment;
    } catch (const ConfigError& error) {
      EXPECT_EQ(std::string(error.what()).find(assignment.substr(0, assignment.find('='))), 0U);
    }
  }
}
}  // namespace
}  // namespace fedhur::client
