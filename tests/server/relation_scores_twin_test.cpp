// Scores of all pairs at once, against loops over pairs and directions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedhur/linalg/normalize.hpp"
#include "fedhur/linalg/symmetric.hpp"
#include "fedhur/server/relation_scores.hpp"
#include "tests/support/decompositions.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::server {
namespace {
using tests::Dense;
using tests::expect_close;
using tests::product;
using tests::widen;

std::vector<Matrix> tables(Index count, Index rows, Index cols, std::uint64_t seed) {
  std::vector<Matrix> result;
  for (Index k = 0; k < count; ++k) {
    result.push_back(tests::random_matrix(rows, cols, seed * 1000 + static_cast<std::uint64_t>(k)));
  }
  return result;
}

std::vector<Matrix> unit_queries(Index count, Index rows, Index directions, std::uint64_t seed) {
  std::vector<Matrix> queries = tables(count, rows, directions, seed + 77);
  for (Matrix& query : queries) linalg::normalize_columns(query);
  return queries;
}

struct Twin {
  Dense scores;
  Dense strengths;
};
Twin by_loops(const std::vector<Matrix>& queries, const std::vector<Matrix>& Z) {
  const auto K = static_cast<Index>(Z.size());
  const auto num_targets = static_cast<Index>(queries.size());
  const Index t = queries[0].cols();
  Twin twin{.scores = Dense::Zero(num_targets, K), .strengths = Dense::Zero(num_targets * K, t)};
  for (Index k = 0; k < num_targets; ++k) {
    for (Index j = 0; j < K; ++j) {
      const Dense answers = product(widen(queries[static_cast<std::size_t>(k)]).transpose(),
                                    widen(Z[static_cast<std::size_t>(j)]));
      for (Index c = 0; c < t; ++c) {
        twin.strengths(k * K + j, c) = answers.row(c).norm();
        twin.scores(k, j) += answers.row(c).squaredNorm();
      }
    }
  }
  return twin;
}

void expect_scores(const std::vector<Matrix>& queries, const std::vector<Matrix>& Z) {
  const Twin twin = by_loops(queries, Z);
  for (const bool has_grams : {false, true}) {
    for (const bool wants_strengths : {false, true}) {
      SCOPED_TRACE(fmt::format("grams {}, strengths {}", has_grams, wants_strengths));
      const DirectScores direct =
          score_candidates(queries, Z, has_grams ? pack_grams(Z) : Matrix(), wants_strengths);
      expect_close(direct.scores, twin.scores);
      EXPECT_GE(direct.scores.minCoeff(), 0.0);
      if (wants_strengths) {
        // The root of a small difference of floats: less exact where a strength is near zero.
        expect_close(direct.strengths, twin.strengths, 2e-3);
      } else {
        EXPECT_EQ(direct.strengths.size(), 0);
      }
    }
  }
}

TEST(DirectScores, AreThoseOfLoops) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const Index num_clients : {1, 2, 5, 23}) {  // 23: more than are done at once
      for (const Index members : {1, 2, 3, 9}) {     // fewer and more than 2 d
        for (const Index dim : {1, 2, 6}) {
          for (const Index directions : {1, 2, 16}) {
            SCOPED_TRACE(fmt::format("K {}, m {}, d {}, t {}, seed {}", num_clients, members, dim,
                                     directions, seed));
            expect_scores(unit_queries(num_clients, members, directions, seed),
                          tables(num_clients, members, dim, seed));
          }
        }
      }
    }
  }
}

TEST(DirectScores, AreThoseOfLoopsWhereFewerAskThanCanHelp) {
  for (const Index num_targets : {1, 3, 22}) {
    for (const Index members : {2, 9}) {
      SCOPED_TRACE(fmt::format("{} targets, m {}", num_targets, members));
      expect_scores(unit_queries(num_targets, members, 4, 1), tables(23, members, 3, 1));
    }
  }
}

TEST(DirectScores, OfZerosAreZero) {
  for (const Index members : {2, 9}) {
    std::vector<Matrix> Z = tables(4, members, 3, 1);
    std::vector<Matrix> queries = unit_queries(4, members, 5, 1);
    Z[2].setZero();
    queries[1].setZero();
    queries[3].col(2).setZero();
    expect_scores(queries, Z);
    const DirectScores direct = score_candidates(queries, Z, pack_grams(Z), true);
    EXPECT_TRUE((direct.scores.col(2).array() == 0.0).all());
    EXPECT_TRUE((direct.scores.row(1).array() == 0.0).all());
  }
}

TEST(DirectScores, OfDeficientTablesAreThoseOfLoops) {
  std::vector<Matrix> Z = tables(5, 6, 4, 3);
  for (Matrix& own : Z) own.col(1) = own.col(0);
  expect_scores(unit_queries(5, 6, 3, 3), Z);
}

TEST(EnergyShares, AreThoseOfTheWorkedExample) {
  // Candidates (3, 4), (0, 2) and nothing; the only target asks along the first axis.
  Matrix first(2, 1);
  first << 3.0F, 4.0F;
  Matrix second(2, 1);
  second << 0.0F, 2.0F;
  const std::vector<Matrix> Z = {first, second, Matrix::Zero(2, 1)};
  Matrix query(2, 2);
  query << 1.0F, 0.6F, 0.0F, 0.8F;  // and along (3, 4)
  DirectScores direct = score_candidates({query}, Z, Matrix(), true);
  divide_by_energy(direct, Z);
  Dense scores(1, 3);
  scores << 9.0 / 25.0 + 1.0, 0.64, 0.0;
  expect_close(direct.scores, scores, 1e-6);
  Dense strengths(3, 2);
  strengths << 0.6, 1.0, 0.0, 0.8, 0.0, 0.0;
  expect_close(direct.strengths, strengths, 1e-6);
}

TEST(EnergyShares, DoNotChangeWithTheSizeOfACandidate) {
  const std::vector<Matrix> queries = unit_queries(4, 7, 5, 2);
  std::vector<Matrix> Z = tables(6, 7, 3, 2);
  for (const bool wants_strengths : {false, true}) {
    const auto shares = [&] {
      DirectScores direct = score_candidates(queries, Z, pack_grams(Z), wants_strengths);
      divide_by_energy(direct, Z);
      return direct;
    };
    const DirectScores before = shares();
    EXPECT_LE(before.scores.maxCoeff(), 5.0 + 1e-4);  // no more than all of it in each direction
    Z[2] *= 1024.0F;
    const DirectScores after = shares();
    EXPECT_EQ(after.scores, before.scores) << "a power of two changes no digit";
    EXPECT_EQ(after.strengths, before.strengths);
    Z[2] /= 1024.0F;
  }
}

TEST(PackedGrams, HaveTheInnerProductsOfTheMatrices) {
  for (const Index members : {1, 4}) {
    const std::vector<Matrix> Z = tables(3, members, 2, 5);
    const Matrix grams = pack_grams(Z);
    ASSERT_EQ(grams.cols(), linalg::packed_size(members));
    for (Index a = 0; a < 3; ++a) {
      for (Index b = 0; b < 3; ++b) {
        const auto gram = [&](Index k) {
          return tests::gram(widen(Z[static_cast<std::size_t>(k)]));
        };
        const double expected = gram(a).cwiseProduct(gram(b)).sum();
        EXPECT_NEAR(static_cast<double>(grams.row(a).dot(grams.row(b))), expected,
                    1e-5 * (1.0 + expected));
      }
    }
  }
}

TEST(CandidateScales, AreRootMeanSquares) {
  const std::vector<Matrix> Z = {Matrix::Constant(3, 2, -2.0F), Matrix::Zero(3, 2)};
  EXPECT_NEAR(candidate_scales(Z)(0), 2.0, 1e-6);
  EXPECT_EQ(candidate_scales(Z)(1), 0.0);
}

TEST(Similarity, IsTheCosineOfTheTables) {
  std::vector<Matrix> Z = tables(5, 4, 3, 2);
  Z[3] = -2.0F * Z[0];
  Z[4].setZero();
  const Dense scores = score_similarity(Z);
  for (std::size_t k = 0; k < 5; ++k) {
    for (std::size_t j = 0; j < 5; ++j) {
      const Dense target = widen(Z[k]);
      const Dense candidate = widen(Z[j]);
      const double norms = target.norm() * candidate.norm();
      EXPECT_NEAR(scores(static_cast<Index>(k), static_cast<Index>(j)),
                  norms > 0.0 ? target.cwiseProduct(candidate).sum() / norms : 0.0, 1e-9);
    }
  }
  EXPECT_NEAR(scores(0, 3), -1.0, 1e-6);
  EXPECT_NEAR(scores(2, 2), 1.0, 1e-6);
}

Dense principal_directions(const Matrix& Z, Index count) {
  Dense centred = widen(Z);
  centred.rowwise() -= Eigen::RowVectorXd(centred.colwise().mean());
  return tests::svd(centred).V.leftCols(count);
}

TEST(Complementarity, IsOneMinusTheCosineOfTheMeanPrincipalAngle) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<Matrix> Z = tables(4, 6, 5, seed);
    for (const Index kappa : {1, 2, 4}) {
      const Dense scores = score_complementarity(Z, kappa);
      for (std::size_t k = 0; k < 4; ++k) {
        for (std::size_t j = 0; j < 4; ++j) {
          const Dense overlap = product(principal_directions(Z[k], kappa).transpose(),
                                        principal_directions(Z[j], kappa));
          const Eigen::ArrayXd cosines = tests::svd(overlap).values.array().min(1.0);
          EXPECT_NEAR(scores(static_cast<Index>(k), static_cast<Index>(j)),
                      1.0 - std::abs(std::cos(cosines.acos().mean())), 1e-5);
        }
      }
    }
  }
}

TEST(Complementarity, HasTheClosenessOfTheWorkedExampleOfFedCa) {
  // Rows with repetition: the sample lists [0, 1, 1, 2] and [1, 2, 2].
  const std::vector<Matrix> Z = {(Matrix(4, 2) << 1, 0, 0, 2, 0, 2, 1, 1).finished(),
                                 (Matrix(3, 2) << 2, 0, 1, -1, 1, -1).finished()};
  EXPECT_NEAR(score_complementarity(Z, 1)(0, 1), 1.0 - 0.26097998, 1e-7);
}

TEST(Complementarity, NeedsTwoGroups) {
  EXPECT_TRUE(score_complementarity(tables(3, 1, 4, 1), 4).isZero(0.0));
  // No more directions than groups and columns give.
  EXPECT_TRUE(score_complementarity(tables(3, 2, 4, 1), 4).allFinite());
  EXPECT_TRUE(score_complementarity(tables(3, 9, 2, 1), 4).isZero(0.0));  // the whole plane
  EXPECT_TRUE(score_complementarity({Matrix::Zero(3, 2), Matrix::Zero(3, 2)}, 4).allFinite());
}
}  // namespace
}  // namespace fedhur::server
