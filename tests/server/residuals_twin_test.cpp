// Relation filters, residuals and averaged parameters, written out scope by scope.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedhur/linalg/symmetric.hpp"
#include "fedhur/server/group_embeddings.hpp"
#include "fedhur/server/personalization.hpp"
#include "fedhur/server/relation_scores.hpp"
#include "fedhur/server/retrieval.hpp"
#include "tests/support/decompositions.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::server {
namespace {
using linalg::ItemHierarchy;
using linalg::Scope;
using tests::Dense;
using tests::expect_close;
using tests::gram;
using tests::widen;

// F_k and F_g of all scopes by the definition: [scope][client], the last entry is F_g.
std::vector<std::vector<Dense>> dense_relation_filters(const Uploads& uploads,
                                                       const ItemHierarchy& hierarchy,
                                                       const std::vector<Real>& level_weights) {
  std::vector<std::vector<Dense>> filters;
  for (const Scope& scope : hierarchy.scopes) {
    double inherited = 0.0;
    if (scope.parent >= 0) {
      const auto parent = static_cast<std::size_t>(scope.parent);
      const auto level = static_cast<std::size_t>(hierarchy.scopes[parent].level);
      const Real beta = level_weights[std::min(level, level_weights.size() - 1)];
      inherited = static_cast<double>(beta) * filters[parent].back()(scope.member, scope.member);
    }
    std::vector<Dense> own;
    Dense mean = Dense::Zero(scope.num_members(), scope.num_members());
    for (const auto& E : uploads) {
      Dense filter = gram(tests::dense_group_means(*E, scope));
      filter.array() += inherited;
      mean += filter / static_cast<double>(uploads.size());
      own.push_back(std::move(filter));
    }
    own.push_back(std::move(mean));
    filters.push_back(std::move(own));
  }
  return filters;
}

struct World {
  World(Index num_clients, Index num_items, Index num_levels, bool ends_with_items,
        std::uint64_t seed)
      : uploads(tests::random_uploads(num_clients, num_items, 4, seed)),
        hierarchy(tests::random_hierarchy(num_items, num_levels, ends_with_items, seed)),
        groups(uploads, std::make_shared<const ItemHierarchy>(hierarchy), executor),
        dense(dense_relation_filters(uploads, hierarchy, level_weights)) {}
  Executor executor{2};
  std::vector<Real> level_weights = {0.5F, 0.2F};
  Uploads uploads;
  ItemHierarchy hierarchy;
  GroupEmbeddings groups;
  std::vector<std::vector<Dense>> dense;
};

template <class Check>
void for_worlds(const Check& check) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (const Index num_clients : {1, 2, 5}) {
      for (const Index num_items : {1, 3, 16}) {
        for (const Index num_levels : {1, 2, 3}) {
          for (const bool ends_with_items : {false, true}) {
            SCOPED_TRACE(fmt::format("K {}, n {}, {} levels, items {}, seed {}", num_clients,
                                     num_items, num_levels, ends_with_items, seed));
            check(World(num_clients, num_items, num_levels, ends_with_items, seed), seed);
          }
        }
      }
    }
  }
}

// Rows that sum to one.
Dense random_weights(Index size, std::uint64_t seed) {
  return weigh_candidates(widen(tests::random_matrix(size, size, seed)), 3.0, 1.0);
}

TEST(GroupEmbeddings, AreTheMeansOfAllClients) {
  for_worlds([](const World& world, std::uint64_t) {
    for (Index s = 0; s < world.hierarchy.num_scopes(); ++s) {
      const auto Z = world.groups.of_scope(s);
      ASSERT_EQ(Z.size(), world.uploads.size());
      for (std::size_t k = 0; k < Z.size(); ++k) {
        expect_close(Z[k],
                     tests::dense_group_means(*world.uploads[k],
                                              world.hierarchy.scopes[static_cast<std::size_t>(s)]),
                     1e-6);
      }
    }
  });
}

TEST(RelationFilters, InheritFromTheGroupAbove) {
  for_worlds([](const World& world, std::uint64_t) {
    // Of full rank, so that scopes of items are exact too.
    const GlobalFilter global = compute_global_filter(
        world.uploads, {.rank = world.hierarchy.num_items}, {}, Rng(1), world.executor);
    const auto filters =
        build_relation_filters(world.groups, global.factor(), world.level_weights, world.executor);
    ASSERT_EQ(filters.size(), world.dense.size());
    for (std::size_t s = 0; s < filters.size(); ++s) {
      expect_close(filters[s].to_dense(), world.dense[s].back(), 1e-4);
      const double largest = tests::largest_eigenvalue(world.dense[s].back());
      EXPECT_NEAR(filters[s].spectral_norm(), largest, 1e-4 * (1.0 + largest));
    }
  });
}

TEST(Residuals, AreWeightedDifferencesFromTheGlobalFilter) {
  for_worlds([](const World& world, std::uint64_t seed) {
    const auto K = static_cast<Index>(world.uploads.size());
    const Dense alpha = random_weights(K, seed);
    for (Index s = 0; s < world.hierarchy.num_scopes(); ++s) {
      const auto& F = world.dense[static_cast<std::size_t>(s)];
      const Matrix R = mix_residuals(alpha, pack_grams(world.groups.of_scope(s)));
      ASSERT_EQ(R.rows(), K);
      for (Index k = 0; k < K; ++k) {
        Dense expected = Dense::Zero(F[0].rows(), F[0].cols());
        for (Index j = 0; j < K; ++j) {
          expected += alpha(k, j) * (F[static_cast<std::size_t>(j)] - F.back());
        }
        const Matrix row = R.row(k);
        expect_close(linalg::unpack(row.data(), expected.rows()), expected);
      }
    }
  });
}

TEST(Residuals, VanishWhereAllClientsCountAlike) {
  const World world(5, 16, 2, true, 1);
  const Dense uniform = weigh_candidates(Dense::Constant(5, 5, 0.3), 3.0, 1.0);
  for (Index s = 0; s < world.hierarchy.num_scopes(); ++s) {
    EXPECT_LE(mix_residuals(uniform, pack_grams(world.groups.of_scope(s))).norm(), 1e-5F);
  }
}

TEST(Parameters, AreAveragedBeforeTheirFilterIsTaken) {
  for_worlds([](const World& world, std::uint64_t seed) {
    const auto K = static_cast<Index>(world.uploads.size());
    const Dense alpha = random_weights(K, seed);
    for (Index s = 0; s < world.hierarchy.num_scopes(); ++s) {
      const auto Z = world.groups.of_scope(s);
      const Matrix R = mix_parameters(alpha, Z, pack_grams(Z));
      ASSERT_EQ(R.rows(), K);
      Dense mean = Dense::Zero(Z[0].rows(), Z[0].rows());
      for (const Matrix& own : Z) mean += gram(widen(own)) / static_cast<double>(K);
      for (Index k = 0; k < K; ++k) {
        Dense average = Dense::Zero(Z[0].rows(), Z[0].cols());
        for (Index j = 0; j < K; ++j) {
          average += alpha(k, j) * widen(Z[static_cast<std::size_t>(j)]);
        }
        const Matrix row = R.row(k);
        expect_close(linalg::unpack(row.data(), mean.rows()), Dense(gram(average) - mean));
      }
    }
  });
}
}  // namespace
}  // namespace fedhur::server
