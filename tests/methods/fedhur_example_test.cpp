// The worked example of the method, number by number: 3 clients, 5 items, d = 2, t = 2, beta =
// (0.5, 0.25), tau = 1, c = 3, lambda = 0.
#include <gtest/gtest.h>

#include "fedhur/client/fine_tuning.hpp"
#include "fedhur/client/utility_query.hpp"
#include "fedhur/linalg/symmetric.hpp"
#include "fedhur/server/group_embeddings.hpp"
#include "fedhur/server/personalization.hpp"
#include "fedhur/server/retrieval.hpp"

namespace fedhur {
namespace {
using linalg::ItemHierarchy;

Matrix matrix(Index rows, Index cols, const std::vector<Real>& values) {
  return Eigen::Map<const Matrix>(values.data(), rows, cols);
}

// From the upper triangle, row by row.
Matrix symmetric(Index size, const std::vector<Real>& values) {
  return linalg::unpack(values.data(), size);
}

constexpr double kClose = 1e-5;
template <class A, class B>
void expect_near(const A& actual, const B& expected, double tolerance = kClose) {
  ASSERT_EQ(actual.rows(), expected.rows());
  ASSERT_EQ(actual.cols(), expected.cols());
  const double error =
      (actual.template cast<double>() - expected.template cast<double>()).cwiseAbs().maxCoeff();
  EXPECT_LE(error, tolerance) << actual << "\nexpected\n" << expected;
}

struct Example {
  server::Uploads uploads;
  ItemHierarchy hierarchy;
  std::vector<Real> level_weights = {0.5F, 0.25F};
  std::vector<Matrix> projections = {matrix(2, 2, {1, .5, -.5, 1}), matrix(2, 2, {.3F, -1, 1, .2F}),
                                     matrix(3, 2, {1, 0, -.4F, .8F, .6F, -1})};
  Executor executor{2};
  server::GlobalFilter global;
  std::vector<linalg::RelationFilter> filters;
  std::vector<std::vector<Matrix>> group_embeddings;  // by scope and client
  std::vector<std::vector<Matrix>> queries;           // by scope and client
  std::vector<server::Retrieval> retrievals;          // by scope
  std::vector<Matrix> residuals;                      // by scope, a packed row per client

  Example() {
    for (const auto& values :
         std::vector<std::vector<Real>>{{1, 0, .5, .5, 0, 1, .2F, -1, -1, .3F},
                                        {.8F, .2F, .1F, .9F, -.4F, 1, 0, -.6F, -1, -.2F},
                                        {.3F, .3F, 1, -.5, .2F, .2F, .6F, -.9F, -.1F, .7F}}) {
      uploads.push_back(std::make_shared<const Matrix>(matrix(5, 2, values)));
    }
    MatrixOf<std::int32_t> members(5, 1);
    members << 0, 0, 1, 1, 1;
    hierarchy = linalg::from_table({.members = members, .ends_with_items = true});
    global = server::compute_global_filter(uploads, {.rank = 5, .passes = 1, .first_passes = 3}, {},
                                           Rng(1), executor);
    const server::GroupEmbeddings groups(
        uploads, std::make_shared<const linalg::ItemHierarchy>(hierarchy), executor);
    filters = server::build_relation_filters(groups, global.factor(), level_weights, executor);
    const server::ScorerConfig scorer_config{.refinement_weight = 0.0F};
    const server::Scorer scorer(4, scorer_config, Rng(1));
    for (Index s = 0; s < hierarchy.num_scopes(); ++s) {
      const auto& filter = filters[static_cast<std::size_t>(s)];
      group_embeddings.push_back(groups.of_scope(s));
      queries.emplace_back();
      for (const Matrix& Z : group_embeddings.back()) {
        queries.back().push_back(client::project_query(
            Z, filter, filter.spectral_norm(), projections[static_cast<std::size_t>(s)],
            {.form = client::QueryForm::utility, .directions = 2, .is_spectral = true}));
      }
      const Matrix grams = server::pack_grams(group_embeddings.back());
      retrievals.push_back(server::retrieve_candidates(
          {.group_embeddings = group_embeddings.back(), .grams = grams, .queries = queries.back()},
          {.relation = server::Relation::utility,
           .principal_directions = 4,
           .temperature = 1.0,
           .clip = 3.0},
          scorer, scorer_config, {}));
      residuals.push_back(server::mix_residuals(retrievals.back().aggregation_weights, grams));
    }
  }

  [[nodiscard]] Matrix residual(std::size_t scope, Index client) const {
    const Vector row = residuals[scope].row(client).transpose();
    return linalg::unpack(row.data(), hierarchy.scopes[scope].num_members());
  }

  [[nodiscard]] linalg::ItemFilter personalized_filter(Index client) const {
    linalg::ItemFilter filter = linalg::filter_of_factor(global.factor());
    filter.hierarchy = std::make_shared<const ItemHierarchy>(hierarchy);
    for (std::size_t s = 0; s < hierarchy.scopes.size(); ++s) {
      filter.blocks.push_back(linalg::level_weight(level_weights, hierarchy.scopes[s].level) *
                              residual(s, client));
    }
    return filter;
  }
};

TEST(FedHurExample, CoarseLevel) {
  const Example example;
  expect_near(example.group_embeddings[0][0], matrix(2, 2, {.75, .25, -.26666667F, .1F}));
  expect_near(example.filters[0].to_dense(), symmetric(2, {.52083333F, -.06555556F, .11925926F}));
  expect_near(example.queries[0][0],
              matrix(2, 2, {.07866192F, -.73490774F, -.99690135F, .6781671F}));
  expect_near(example.retrievals[0].direct_scores,
              matrix(3, 3,
                     {.66121921F, .79887972F, .14044675F, .2598004F, .52984082F, .0616677F,
                      .39486457F, .52840351F, .39338604F}));
  expect_near(example.retrievals[0].aggregation_weights,
              matrix(3, 3,
                     {.35915704F, .58360319F, .05723977F, .18378518F, .75077141F, .06544341F,
                      .09783388F, .80659083F, .09557529F}));
  expect_near(example.residual(0, 0), symmetric(2, {.02311563F, -.08977345F, .04267835F}));
}

TEST(FedHurExample, StrengthsAndScorerFeatures) {
  const Example example;
  const auto& Z = example.group_embeddings[0];
  const server::DirectScores direct =
      server::score_candidates(example.queries[0], Z, server::pack_grams(Z), true);
  expect_near(direct.scores, example.retrievals[0].direct_scores);
  expect_near(direct.strengths.row(1), matrix(1, 2, {.5011556F, .74008296F}));  // target 0
  const Matrix features = server::build_scorer_features(direct, server::candidate_scales(Z), 0, {});
  expect_near(features.row(0), matrix(1, 4, {-.03502135F, .70983443F, .61655797F, .52288676F}));
}

TEST(FedHurExample, FineLevel) {
  const Example example;
  expect_near(example.filters[1].to_dense(), symmetric(2, {.88041667F, .56375F, 1.11708333F}));
  expect_near(example.retrievals[1].aggregation_weights.row(0),
              matrix(1, 3, {.05684047F, .39645758F, .54670195F}));
  expect_near(example.residual(1, 0), symmetric(2, {-.19516203F, -.08982884F, .18022622F}));
  expect_near(example.filters[2].to_dense(),
              symmetric(3, {.8062963F, -.4937037F, .2662963F, .9162963F, -.29703704F, .9362963F}));
  expect_near(example.retrievals[2].aggregation_weights.row(0),
              matrix(1, 3, {.36651817F, .57633727F, .05714456F}));
  expect_near(example.residual(2, 0), symmetric(3, {.2929743F, -.16241588F, .02541359F, -.20114722F,
                                                    .20313831F, .15080118F}));
}

TEST(FedHurExample, PersonalizedFilter) {
  const Example example;
  expect_near(example.personalized_filter(0).to_dense(),
              symmetric(5, {.58276731F, .29243394F, -.04488672F, -.04822006F, -.59822006F,
                            .91328104F, .44177994F, -.00822006F, -.40488672F, .84124942F,
                            -.57259813F, .23435924F, .82771904F, -.28454291F, .93570614F}));
}

TEST(FedHurExample, FineTuning) {
  const Example example;
  const Matrix& E = *example.uploads[0];
  const linalg::ItemFilter filter = example.personalized_filter(0);
  EXPECT_NEAR(linalg::distance(E, filter), 1.32733811, kClose);
  const Matrix exact = client::finetune_exactly(E, filter, 60);
  expect_near(exact, matrix(5, 2,
                            {.63586757F, .01495298F, .69216825F, .47736375F, -.01112098F,
                             .88847476F, .2100645F, -.730579F, -.89546784F, .25126076F}));
  EXPECT_NEAR(linalg::distance(exact, filter), 0.61741934, kClose);
  expect_near(client::finetune_by_gradient(
                  E, filter, {.solver = client::FineTuneSolver::gradient, .steps = 3}),
              matrix(5, 2,
                     {.7124103F, .0333103F, .6071852F, .44771232F, -.01060049F, .87209682F,
                      .16068163F, -.77003754F, -.8978649F, .2405149F}));
}
}  // namespace
}  // namespace fedhur
