// Queries without n x n matrices, against U P written out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedhur/client/utility_query.hpp"
#include "tests/support/decompositions.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::client {
namespace {
using linalg::RelationFilter;
using tests::Dense;
using tests::expect_close;
using tests::product;
using tests::widen;

Dense dense_query(const Dense& Z, const Dense& global, const Dense& P, const QueryConfig& config) {
  Dense F = global;
  if (config.is_spectral) {
    const double norm = tests::largest_eigenvalue(global);
    F = norm > 0.0 ? Dense(F / norm) : Dense(Dense::Zero(F.rows(), F.cols()));
  }
  const Dense H = tests::gram(Z);
  Dense U = H;
  if (config.form == QueryForm::utility) U = H - 0.5 * (product(H, F) + product(F, H));
  if (config.form == QueryForm::right) U = H - product(H, F);
  if (config.form == QueryForm::left) U = H - product(F, H);
  Dense Q = product(U, P);
  for (Index c = 0; c < Q.cols(); ++c) {
    if (Q.col(c).norm() > 0.0) Q.col(c) /= Q.col(c).norm();
  }
  return Q;
}

template <class Check>
void for_all_forms(const Check& check) {
  for (const char* name : names_of(QueryForm{})) {
    const QueryForm form = *value_named<QueryForm>(name);
    for (const bool is_spectral : {true, false}) {
      SCOPED_TRACE(fmt::format("{}, spectral {}", name, is_spectral));
      check(QueryConfig{.form = form, .directions = 3, .is_spectral = is_spectral});
    }
  }
}

TEST(ProjectedQuery, IsTheDenseOne) {
  for_all_forms([](const QueryConfig& config) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      for (const Index members : {2, 5, 14}) {  // fewer and more than the width of the embeddings
        for (const double inherited : {0.0, 0.8}) {
          const Matrix Z = tests::random_matrix(members, 4, seed);
          const Matrix P = tests::random_matrix(members, 3, seed + 50);
          const RelationFilter of_items{.dense = {},
                                        .factor = tests::random_matrix(members, 3, seed + 90),
                                        .inherited = inherited};
          Dense global = tests::gram(widen(of_items.factor));
          global.array() += inherited;
          const RelationFilter of_groups{
              .dense = global.cast<Real>(), .factor = {}, .inherited = 0.0};
          const Dense expected = dense_query(widen(Z), global, widen(P), config);
          for (const RelationFilter& filter : {of_items, of_groups}) {
            expect_close(project_query(Z, filter, filter.spectral_norm(), P, config), expected,
                         5e-4);
          }
        }
      }
    }
  });
}

TEST(ProjectedQuery, HasColumnsOfUnitLengthOrZero) {
  for_all_forms([](const QueryConfig& config) {
    const RelationFilter filter{
        .dense = {}, .factor = tests::random_matrix(6, 2, 1), .inherited = 0.0};
    Matrix P = tests::random_matrix(6, 3, 2);
    P.col(1).setZero();
    const Matrix Q =
        project_query(tests::random_matrix(6, 4, 3), filter, filter.spectral_norm(), P, config);
    EXPECT_NEAR(Q.col(0).norm(), 1.0F, 1e-5F);
    EXPECT_TRUE(Q.col(1).isZero(0.0F));
    EXPECT_NEAR(Q.col(2).norm(), 1.0F, 1e-5F);
  });
}

TEST(ProjectedQuery, OfEmptyEmbeddingsIsZero) {
  for_all_forms([](const QueryConfig& config) {
    const RelationFilter filter{
        .dense = {}, .factor = tests::random_matrix(6, 2, 1), .inherited = 0.3};
    const Matrix P = tests::random_matrix(6, 3, 2);
    EXPECT_TRUE(
        project_query(Matrix::Zero(6, 4), filter, filter.spectral_norm(), P, config).isZero(0.0F));
  });
}

TEST(ProjectedQuery, IsTheLocalOneWhereTheGlobalFilterIsZero) {
  const Matrix Z = tests::random_matrix(5, 2, 1);
  const Matrix P = tests::random_matrix(5, 3, 2);
  const RelationFilter nothing{.dense = Matrix::Zero(5, 5), .factor = {}, .inherited = 0.0};
  for_all_forms([&](const QueryConfig& config) {
    expect_close(project_query(Z, nothing, nothing.spectral_norm(), P, config),
                 project_query(Z, nothing, 0.0, P, {.form = QueryForm::local, .directions = 3}));
  });
}

TEST(ProjectedQuery, VanishesWhereTheGlobalFilterAlreadyReconstructsTheClient) {
  const Matrix Z = tests::random_matrix(5, 2, 1);
  const Matrix P = tests::random_matrix(5, 3, 2);
  const RelationFilter all{.dense = Matrix::Identity(5, 5), .factor = {}, .inherited = 0.0};
  for (const QueryForm form : {QueryForm::utility, QueryForm::right, QueryForm::left}) {
    const QueryConfig config{.form = form, .directions = 3};
    EXPECT_TRUE(project_query(Z, all, all.spectral_norm(), P, config).isZero(0.0F));
  }
}

// A scope of one member: the global filter divided by its norm is 1, and nothing is left to ask.
TEST(ProjectedQuery, OfASingleMemberVanishes) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const RelationFilter filter{
        .dense = {}, .factor = tests::random_matrix(1, 3, seed), .inherited = 0.1};
    for (const QueryForm form : {QueryForm::utility, QueryForm::right, QueryForm::left}) {
      const Matrix Q =
          project_query(tests::random_matrix(1, 4, seed + 100), filter, filter.spectral_norm(),
                        tests::random_matrix(1, 3, seed + 200), {.form = form, .directions = 3});
      EXPECT_TRUE(Q.isZero(0.0F)) << "seed " << seed << ": " << Q;
    }
  }
}

TEST(Projection, DependsOnSeedAndScopeAlone) {
  const Matrix P = draw_projection(Rng(4), 2, 7, 3);
  EXPECT_EQ(P, draw_projection(Rng(4), 2, 7, 3));
  EXPECT_NE(P, draw_projection(Rng(4), 3, 7, 3));
  EXPECT_NE(P, draw_projection(Rng(5), 2, 7, 3));
  EXPECT_EQ(P.rows(), 7);
  EXPECT_EQ(P.cols(), 3);
}
}  // namespace
}  // namespace fedhur::client
