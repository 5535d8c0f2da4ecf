// FedCA's weights on data small enough to follow by hand.
#include "fedhur/server/composite_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fedhur/linalg/principal.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::server {
namespace {
using tests::Dense;
using tests::expect_close;

Shared<Matrix> shared(Matrix matrix) { return std::make_shared<const Matrix>(std::move(matrix)); }

// Two clients, three items.
Uploads example_tables() {
  return {shared((Matrix(3, 2) << 1, 0, 0, 2, 1, 1).finished()),
          shared((Matrix(3, 2) << 0, 1, 2, 0, 1, -1).finished())};
}
// Their samples are the items 0, 1, 1, 2 and 1, 2, 2.
Uploads example_bases(Index kappa = 1) {
  const auto basis = [&](const Matrix& table, double a, double b, double c) {
    const Eigen::VectorXd occurrences = (Eigen::VectorXd(3) << a, b, c).finished();
    const Dense columns = linalg::principal_directions(table, occurrences, kappa);
    return shared(columns.transpose().cast<Real>());
  };
  const Uploads tables = example_tables();
  return {basis(*tables[0], 1, 2, 1), basis(*tables[1], 0, 1, 2)};
}
const Eigen::VectorXd kSizes = (Eigen::VectorXd(2) << 3, 1).finished();

TEST(TableSimilarity, IsThatOfTheWorkedExampleWhateverTheSigns) {
  const Executor executor(2);
  Uploads tables = example_tables();
  for (int turn = 0; turn < 2; ++turn) {
    const Dense similarity = score_table_similarity(tables, executor);
    EXPECT_NEAR(similarity(0, 1), 0.48503214, 1e-6) << "distance 1.06171906, not 3.15327134";
    EXPECT_EQ(similarity(1, 0), similarity(0, 1));
    EXPECT_EQ(similarity(0, 0), 1.0);
    tables[1] = shared(-*tables[1]);  // turns the component around
  }
}

TEST(TableSimilarity, TakesNearlyEqualTablesForEqual) {
  const Executor executor(1);
  const Matrix table = tests::random_matrix(9, 4, 1);
  Matrix near = table;
  near(0, 0) += 0.01F;
  const Dense similarity =
      score_table_similarity({shared(table), shared(near), shared(3.0F * table)}, executor);
  EXPECT_EQ(similarity(0, 1), 1.0);
  EXPECT_LT(similarity(0, 2), 0.9);
}

TEST(TableSimilarity, IsThatOfLoopsOverPairs) {
  const Executor executor(2);
  const Uploads tables = tests::random_uploads(6, 11, 3, 4);
  std::vector<Eigen::VectorXd> components;
  for (const auto& table : tables) {
    components.emplace_back(linalg::centre_rows(*table) * linalg::principal_directions(*table, 1));
  }
  const Dense similarity = score_table_similarity(tables, executor);
  for (std::size_t k = 0; k < tables.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j) {
      const double distance =
          std::min((components[k] - components[j]).norm(), (components[k] + components[j]).norm());
      EXPECT_NEAR(similarity(static_cast<Index>(k), static_cast<Index>(j)), 1.0 / (1.0 + distance),
                  1e-9);
    }
  }
}

TEST(Closeness, IsThatOfTheWorkedExampleWhateverTheSigns) {
  const Executor executor(2);
  Uploads bases = example_bases();
  EXPECT_NEAR(std::abs((*bases[0])(0, 0)), 0.49806073, 1e-6);
  EXPECT_NEAR(std::abs((*bases[1])(0, 1)), 0.70710678, 1e-6);
  for (int turn = 0; turn < 2; ++turn) {
    const Dense closeness = score_closeness(bases, executor);
    EXPECT_NEAR(closeness(0, 1), 0.26097998, 1e-6);
    EXPECT_EQ(closeness(1, 0), closeness(0, 1));
    EXPECT_EQ(closeness(1, 1), 1.0);
    bases[0] = shared(-*bases[0]);
  }
}

TEST(Closeness, CutsAllBasesToTheShortest) {
  const Executor executor(1);
  Uploads bases;
  for (std::uint64_t k = 0; k < 4; ++k) {
    bases.push_back(shared(tests::random_basis(7, 3, k + 1).transpose()));
  }
  Uploads cut = bases;
  for (auto& basis : cut) basis = shared(basis->topRows(2));
  const Dense of_three = score_closeness(bases, executor);
  bases[2] = cut[2];  // one client has fewer
  EXPECT_EQ(score_closeness(bases, executor), score_closeness(cut, executor));
  EXPECT_NE(score_closeness(bases, executor)(0, 1), of_three(0, 1)) << "also between the others";
}

TEST(Closeness, OfAClientWithoutSamplesLeavesTheOthersAlone) {
  const Executor executor(1);
  Uploads bases = example_bases();
  const double between = score_closeness(bases, executor)(0, 1);
  bases.push_back(shared(Matrix(0, 2)));
  const Dense closeness = score_closeness(bases, executor);
  EXPECT_EQ(closeness(0, 1), between);
  EXPECT_EQ(closeness(2, 0), 1.0);
  EXPECT_EQ(closeness(1, 2), 1.0);
  EXPECT_EQ(score_closeness({bases[2], bases[2]}, executor), Dense(Dense::Ones(2, 2)));
}

TEST(Closeness, OfRoundedBasesOfOneSpaceIsOne) {
  const Executor executor(1);
  const Matrix basis = tests::random_basis(16, 4, 1).transpose();
  // Half the digits of a float are gone, as after a coarse wire format.
  const Matrix scaled = 1.003F * basis;
  EXPECT_NEAR(score_closeness({shared(basis), shared(scaled)}, executor)(0, 1), 1.0, 1e-9);
}

Dense example_weights(Favoured favoured) {
  const Executor executor(1);
  return weigh_composite(kSizes, score_table_similarity(example_tables(), executor),
                         score_closeness(example_bases(), executor), {.favoured = favoured});
}

TEST(CompositeWeights, AreThoseOfTheWorkedExample) {
  expect_close(example_weights(Favoured::complementary),
               (Dense(2, 2) << 0.71639218, 0.28360782, 0.78360782, 0.21639218).finished(), 1e-6);
  expect_close(example_weights(Favoured::alike),
               (Dense(2, 2) << 0.93809818, 0.06190182, 0.56190182, 0.43809818).finished(), 1e-6);
}

TEST(CompositeWeights, AreDataSizesWhereNothingElseCounts) {
  const Dense any = tests::random_symmetric(3, 1).cast<double>();
  const Eigen::VectorXd sizes = (Eigen::VectorXd(3) << 5, 0, 15).finished();
  const Dense weights =
      weigh_composite(sizes, any, any, {.similarity_weight = 0, .closeness_weight = 0});
  for (Index k = 0; k < 3; ++k) {
    expect_close(Dense(weights.row(k)), (Dense(1, 3) << 0.25, 0, 0.75).finished(), 1e-12);
  }
}

TEST(CompositeWeights, OfClientsWithoutDataAreFiniteAndSumToOne) {
  const Dense weights = weigh_composite(Eigen::VectorXd::Zero(4), Dense::Identity(4, 4),
                                        Dense::Ones(4, 4), {.similarity_weight = 50.0F});
  EXPECT_EQ(weights, Dense(Dense::Identity(4, 4))) << "similarity alone decides";
}

TEST(Mixtures, AreThoseOfTheWorkedExample) {
  const Executor executor(2);
  const auto mixtures =
      mix_tables(example_tables(), example_weights(Favoured::complementary), executor);
  expect_close(
      mixtures[0],
      (Dense(3, 2) << 0.71639218, 0.28360782, 0.56721565, 1.43278435, 1, 0.43278435).finished(),
      1e-6);
}

TEST(Mixtures, AreSumsOverClientsForAnyNumberOfThreads) {
  const Uploads tables = tests::random_uploads(5, 150, 3, 2);  // more rows than one task has
  const Dense weights = tests::random_matrix(5, 5, 3).cast<double>();
  const Executor one(1);
  const Executor three(3);
  const auto mixtures = mix_tables(tables, weights, one);
  const auto again = mix_tables(tables, weights, three);
  for (Index k = 0; k < 5; ++k) {
    Dense sum = Dense::Zero(150, 3);
    for (Index j = 0; j < 5; ++j) {
      sum += weights(k, j) * tables[static_cast<std::size_t>(j)]->cast<double>();
    }
    expect_close(mixtures[static_cast<std::size_t>(k)], sum, 1e-6);
    EXPECT_EQ(mixtures[static_cast<std::size_t>(k)], again[static_cast<std::size_t>(k)]);
  }
}
}  // namespace
}  // namespace fedhur::server
