// No client is special: other names, the same results under the other names.
#include <gtest/gtest.h>

#include "fedhur/linalg/normalize.hpp"
#include "fedhur/server/personalization.hpp"
#include "fedhur/server/retrieval.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::server {
namespace {
using tests::expect_close;
constexpr Index kClients = 6;
constexpr Index kDirections = 3;

std::vector<Matrix> permuted(const std::vector<Matrix>& tables, const std::vector<Index>& order) {
  std::vector<Matrix> result;
  for (const Index k : order) result.push_back(tables[static_cast<std::size_t>(k)]);
  return result;
}

struct Outcome {
  Retrieval retrieval;
  Matrix residuals;
  Matrix parameters;
};

Outcome outcome_of(const std::vector<Matrix>& Z, const std::vector<Matrix>& queries,
                   Relation relation) {
  const ScorerConfig scorer_config{.refinement_weight = 0.5F};
  Scorer scorer(scorer_config.num_features(kDirections), scorer_config, Rng(1));
  const Matrix features = tests::random_matrix(20, kDirections + 2, 1);
  scorer.update(features, features.col(0));  // any training will do
  const Matrix grams = pack_grams(Z);
  RetrievalConfig config;
  config.relation = relation;
  Outcome outcome;
  outcome.retrieval =
      retrieve_candidates({.group_embeddings = Z, .grams = grams, .queries = queries}, config,
                          scorer, scorer_config, {});
  outcome.residuals = mix_residuals(outcome.retrieval.aggregation_weights, grams);
  outcome.parameters = mix_parameters(outcome.retrieval.aggregation_weights, Z, grams);
  return outcome;
}

class Permutation : public testing::TestWithParam<Relation> {};

TEST_P(Permutation, OfTheUploadsPermutesScoresWeightsAndResiduals) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Index members = seed % 2 == 0 ? 3 : 11;  // below and above 2 d
    std::vector<Matrix> Z;
    std::vector<Matrix> queries;
    for (std::uint64_t k = 0; k < kClients; ++k) {
      Z.push_back(tests::random_matrix(members, 4, 100 * seed + k));
      queries.push_back(tests::random_matrix(members, kDirections, 7000 + 100 * seed + k));
      linalg::normalize_columns(queries.back());
    }
    std::vector<Index> order(kClients);
    for (Index k = 0; k < kClients; ++k) order[static_cast<std::size_t>(k)] = k;
    Rng rng(seed);
    rng.shuffle(std::span(order));
    const Outcome plain = outcome_of(Z, queries, GetParam());
    const Outcome moved = outcome_of(permuted(Z, order), permuted(queries, order), GetParam());
    const auto rows_and_columns = [&](const MatrixOf<double>& matrix) {
      return MatrixOf<double>(matrix(order, order));
    };
    expect_close(moved.retrieval.direct_scores, rows_and_columns(plain.retrieval.direct_scores));
    expect_close(moved.retrieval.retrieval_scores,
                 rows_and_columns(plain.retrieval.retrieval_scores), 1e-4);
    expect_close(moved.retrieval.aggregation_weights,
                 rows_and_columns(plain.retrieval.aggregation_weights), 1e-4);
    expect_close(moved.residuals, Matrix(plain.residuals(order, Eigen::all)), 1e-4);
    expect_close(moved.parameters, Matrix(plain.parameters(order, Eigen::all)), 1e-4);
  }
}
INSTANTIATE_TEST_SUITE_P(All, Permutation,
                         testing::Values(Relation::none, Relation::own, Relation::similarity,
                                         Relation::complementarity, Relation::both,
                                         Relation::utility, Relation::common),
                         [](const auto& relation) { return name_of(relation.param); });

TEST(Permutation, OfTheUploadsLeavesTheGlobalFilterAlone) {
  const Executor executor(2);
  Uploads uploads = tests::related_uploads(5, 14, 3, 1);
  const auto dense = [&] {
    const Matrix factor =
        compute_global_filter(uploads, {.rank = 14}, {}, Rng(1), executor).factor();
    return Matrix(factor * factor.transpose());
  };
  const Matrix before = dense();
  std::swap(uploads[0], uploads[3]);
  std::swap(uploads[1], uploads[4]);
  expect_close(dense(), before, 1e-4);
}
}  // namespace
}  // namespace fedhur::server
