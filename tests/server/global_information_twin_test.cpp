// The leading eigenpairs of the mean filter, against the dense mean.
#include <gtest/gtest.h>

#include <algorithm>

#include "fedhur/server/global_information.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::server {
namespace {
using tests::Dense;
using tests::expect_close;

GlobalFilter compute(const Uploads& uploads, const GlobalFilterConfig& config,
                     const Matrix& start = {}, Index threads = 2) {
  const Executor executor(threads);
  return compute_global_filter(uploads, config, start, Rng(7), executor);
}

Dense dense_of(const GlobalFilter& filter) {
  const Dense factor = filter.factor().cast<double>();
  return factor * factor.transpose();
}

// Eigenpairs descend, none is negative, and the basis is orthonormal up to columns of zeros.
void expect_well_formed(const GlobalFilter& filter) {
  Index rank = 0;
  for (Index i = 0; i < filter.values.size(); ++i) {
    EXPECT_GE(filter.values(i), 0.0);
    if (i > 0) {
      EXPECT_LE(filter.values(i), filter.values(i - 1));
    }
    if (filter.values(i) > 0.0) rank = i + 1;
  }
  const Dense V = filter.basis.leftCols(rank).cast<double>();
  expect_close(Dense(V.transpose() * V), Dense(Dense::Identity(rank, rank)), 1e-3);
  EXPECT_TRUE(filter.basis.rightCols(filter.values.size() - rank).isZero(0.0F));
}

TEST(GlobalFilter, IsTheDenseMeanWhereTheRankIsFull) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const Index num_clients : {1, 2, 5}) {
      for (const Index num_items : {1, 2, 13}) {
        const Uploads uploads = tests::random_uploads(num_clients, num_items, 3, seed);
        const GlobalFilter filter = compute(uploads, {.rank = num_items});
        expect_well_formed(filter);
        expect_close(dense_of(filter), tests::dense_global_filter(uploads), 1e-4);
        EXPECT_NEAR(filter.trace_kept, 1.0, 1e-4);
      }
    }
  }
}

TEST(GlobalFilter, OfOneClientIsItsOwn) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Uploads uploads = tests::random_uploads(1, 11, 4, seed);
    const GlobalFilter filter = compute(uploads, {.rank = 0, .passes = 1, .first_passes = 2});
    ASSERT_EQ(filter.values.size(), 4);  // as wide as the embeddings
    expect_close(dense_of(filter), tests::dense_global_filter(uploads), 1e-4);
  }
}

void expect_near_best(const GlobalFilter& filter, const Uploads& uploads, Index rank) {
  const Dense mean = tests::dense_global_filter(uploads);
  const Dense best = tests::best_approximation(mean, rank);
  expect_well_formed(filter);
  ASSERT_EQ(filter.values.size(), rank);
  EXPECT_LE((dense_of(filter) - mean).norm(), 1.001 * (best - mean).norm() + 1e-4);
  EXPECT_NEAR(filter.trace_kept, best.trace() / mean.trace(), 1e-3);
}

TEST(GlobalFilter, ComesNearTheBestOfItsRankInManyPasses) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Uploads uploads = tests::related_uploads(4, 19, 5, seed);
    for (const Index rank : {1, 3, 5, 8}) {  // below and above the width of the embeddings
      expect_near_best(compute(uploads, {.rank = rank, .passes = 1, .first_passes = 200}), uploads,
                       rank);
    }
  }
}

TEST(GlobalFilter, ComesNearTheBestOfItsRankFromRoundToRound) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Uploads uploads = tests::related_uploads(4, 19, 5, seed);
    const GlobalFilterConfig config{.rank = 3, .passes = 2, .first_passes = 1};
    GlobalFilter filter = compute(uploads, config);
    double before = filter.trace_kept;
    for (int round = 0; round < 100; ++round) {
      filter = compute(uploads, config, filter.basis);
      EXPECT_GE(filter.trace_kept, before - 1e-5);  // a warm start loses nothing
      before = filter.trace_kept;
    }
    expect_near_best(filter, uploads, 3);
  }
}

TEST(GlobalFilter, KeepsTheShareOfTheTraceThatItsValuesAre) {
  const Uploads uploads = tests::random_uploads(3, 17, 4, 2);
  for (const Index rank : {1, 4, 9}) {
    const GlobalFilter filter = compute(uploads, {.rank = rank, .passes = 1, .first_passes = 1});
    EXPECT_NEAR(filter.trace_kept,
                filter.values.sum() / tests::dense_global_filter(uploads).trace(), 1e-5);
    EXPECT_GT(filter.trace_kept, 0.0);
    EXPECT_LE(filter.trace_kept, 1.0 + 1e-5);
  }
}

TEST(GlobalFilter, HasNoMoreColumnsThanItems) {
  const Uploads uploads = tests::random_uploads(2, 3, 5, 1);
  for (const Index rank : {0, 9}) {
    const GlobalFilter filter = compute(uploads, {.rank = rank});
    EXPECT_EQ(filter.basis.cols(), 3);
    expect_close(dense_of(filter), tests::dense_global_filter(uploads), 1e-4);
  }
}

// All clients the same table, whose columns repeat: of rank 2 instead of 5.
Uploads deficient_uploads(std::uint64_t seed) {
  Matrix E = tests::random_matrix(12, 5, seed);
  E.col(2) = E.col(0);
  E.col(3) = -E.col(1);
  E.col(4).setZero();
  E.row(7).setZero();
  const auto shared = std::make_shared<const Matrix>(E);
  return {shared, shared, shared};
}

TEST(GlobalFilter, EndsWithZerosBeyondTheRankOfTheMean) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Uploads uploads = deficient_uploads(seed);
    for (const Index rank : {1, 2, 5, 12}) {
      const GlobalFilter filter = compute(uploads, {.rank = rank, .passes = 1, .first_passes = 60});
      expect_near_best(filter, uploads, rank);
      for (Index i = 2; i < rank; ++i) EXPECT_EQ(filter.values(i), 0.0);
    }
  }
}

TEST(GlobalFilter, FindsDirectionsThatTheLastRoundDidNotHave) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const GlobalFilterConfig config{.rank = 5, .passes = 4, .first_passes = 4};
    GlobalFilter filter = compute(deficient_uploads(seed), config);
    const Uploads uploads = tests::random_uploads(1, 12, 5, seed);
    for (int round = 0; round < 3; ++round) filter = compute(uploads, config, filter.basis);
    expect_close(dense_of(filter), tests::dense_global_filter(uploads), 1e-3);
  }
}

TEST(GlobalFilter, OfZerosIsZeroAndKeepsAll) {
  const auto zeros = std::make_shared<const Matrix>(Matrix::Zero(6, 2));
  const GlobalFilter filter = compute({zeros, zeros}, {.rank = 3});
  EXPECT_TRUE(filter.factor().isZero(0.0F));
  EXPECT_EQ(filter.trace_kept, 1.0);
  // And goes on from there.
  const Uploads uploads = tests::random_uploads(1, 6, 2, 1);
  expect_close(dense_of(compute(uploads, {.rank = 3}, filter.basis)),
               tests::dense_global_filter(uploads), 1e-3);
}

TEST(GlobalFilter, HasTheSameBitsForAnyNumberOfThreads) {
  const Uploads uploads = tests::related_uploads(5, 300, 4, 3);
  const GlobalFilter one = compute(uploads, {}, {}, 1);
  const GlobalFilter three = compute(uploads, {}, {}, 3);
  EXPECT_EQ(one.basis, three.basis);
  EXPECT_EQ(one.values, three.values);
  EXPECT_EQ(one.trace_kept, three.trace_kept);
}

TEST(GlobalEmbeddings, AreTheMeanOfAll) {
  const Executor executor(2);
  for (const Index num_clients : {1, 2, 7}) {
    for (const Index num_items : {1, 129, 300}) {  // one row, and one beyond a task
      const Uploads uploads = tests::random_uploads(num_clients, num_items, 3, 4);
      Dense mean = Dense::Zero(num_items, 3);
      for (const auto& upload : uploads) mean += upload->cast<double>();
      mean /= static_cast<double>(num_clients);
      expect_close(average_embeddings(uploads, executor), mean, 1e-6);
    }
  }
}

TEST(GlobalInformation, HasTheSameBitsForAnyOrderOfTheClients) {
  Uploads uploads = tests::random_uploads(7, 130, 3, 4);
  const Executor one(1);
  const Matrix mean = average_embeddings(uploads, one);
  const GlobalFilter filter = compute_global_filter(uploads, {}, {}, Rng(1), one);
  for (int turn = 0; turn < 3; ++turn) {
    std::rotate(uploads.begin(), uploads.begin() + 3, uploads.end());
    const Executor executor(1 + turn);
    EXPECT_EQ(average_embeddings(uploads, executor), mean);
    EXPECT_EQ(compute_global_filter(uploads, {}, {}, Rng(1), executor).basis, filter.basis);
  }
}

// S + rate (S_g - S) for S = T T^T
Dense dense_step(const Uploads& uploads, const Matrix& T, double rate) {
  const Dense S = tests::gram(tests::widen(T));
  return S + rate * (tests::dense_global_filter(uploads) - S);
}

TEST(GlobalFilterStep, IsThePositivePartOfTheDenseStepWhereTheRankIsFull) {
  const Executor executor(2);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const Real rate : {0.5F, 3.0F, 20.0F}) {
      for (const Index num_items : {1, 5, 13}) {
        const Uploads uploads = tests::random_uploads(3, num_items, 4, seed);
        const Matrix T = tests::random_matrix(num_items, 9, seed + 50);
        const GlobalFilter filter =
            step_global_filter(uploads, {.rank = num_items}, T, rate, executor);
        expect_well_formed(filter);
        const Dense dense = dense_step(uploads, T, static_cast<double>(rate));
        expect_close(dense_of(filter), tests::best_approximation(dense, num_items), 1e-4);
      }
    }
  }
}

// What clients upload after small steps from one start.
TEST(GlobalFilterStep, ComesNearTheBestOfItsRankAfterSmallSteps) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix T = tests::random_matrix(40, 5, seed);
    Uploads uploads;
    for (std::uint64_t k = 0; k < 4; ++k) {
      uploads.push_back(
          std::make_shared<const Matrix>(T + 0.02F * tests::random_matrix(40, 5, 100 * seed + k)));
    }
    const Dense dense = dense_step(uploads, T, 20.0);
    const Dense best = tests::best_approximation(dense, 5);
    const GlobalFilter one = step_global_filter(uploads, {}, T, 20.0F, Executor(1));
    expect_well_formed(one);
    EXPECT_LE((dense_of(one) - dense).norm(), 1.001 * (best - dense).norm());
    EXPECT_EQ(one.factor(), step_global_filter(uploads, {}, T, 20.0F, Executor(3)).factor());
  }
}
}  // namespace
}  // namespace fedhur::server
