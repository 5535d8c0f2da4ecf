#include <gtest/gtest.h>

#include <cmath>

#include "fedhur/base/random.hpp"
#include "fedhur/linalg/normalize.hpp"

namespace fedhur::linalg {
namespace {
Eigen::VectorXd vector(std::initializer_list<double> values) {
  Eigen::VectorXd result(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

Eigen::VectorXd random_scores(Index count, double scale, Rng rng) {
  Eigen::VectorXd scores(count);
  for (double& score : scores) score = scale * rng.normal();
  return scores;
}

TEST(Simplex, HasTheProjectionsOfTheWorkedExample) {
  EXPECT_TRUE(project_on_simplex(vector({0.9, 0.6, -0.2})).isApprox(vector({0.65, 0.35, 0})));
  EXPECT_TRUE(project_on_simplex(vector({0.2, 0.3, 0.1}))
                  .isApprox(vector({1.0 / 3.0, 13.0 / 30.0, 7.0 / 30.0})));
  EXPECT_TRUE(project_on_simplex(vector({2, 0, 0})).isApprox(vector({1, 0, 0})));
  EXPECT_TRUE(project_on_simplex(vector({-7})).isApprox(vector({1})));
}

TEST(Simplex, KeepsItsOwnPointsAndSharesTiesEqually) {
  const Eigen::VectorXd inside = vector({0.5, 0.25, 0.25, 0});
  EXPECT_TRUE(project_on_simplex(inside).isApprox(inside));
  EXPECT_TRUE(project_on_simplex(Eigen::VectorXd::Constant(7, -3.0))
                  .isApprox(Eigen::VectorXd::Constant(7, 1.0 / 7.0)));
}

TEST(Simplex, ProjectionIsTheNearestPoint) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index count = 1 + static_cast<Index>(seed % 9);
    for (const double scale : {0.01, 1.0, 50.0}) {
      const Eigen::VectorXd scores = random_scores(count, scale, Rng(seed));
      const Eigen::VectorXd x = project_on_simplex(scores);
      EXPECT_NEAR(x.sum(), 1.0, 1e-12);
      EXPECT_GE(x.minCoeff(), 0.0);
      // Of a convex set the nearest point is the one seen from the scores at no acute angle to any
      // other; the corners are enough.
      for (Index corner = 0; corner < count; ++corner) {
        const Eigen::VectorXd away = Eigen::VectorXd::Unit(count, corner) - x;
        EXPECT_LE((scores - x).dot(away), 1e-9 * (1.0 + scale)) << seed << " " << corner;
      }
      EXPECT_TRUE(project_on_simplex(scores.array() + 3.0).isApprox(x, 1e-9)) << seed;
    }
  }
}
}  // namespace
}  // namespace fedhur::linalg
