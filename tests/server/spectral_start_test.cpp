#include "fedhur/server/spectral_start.hpp"

#include <gtest/gtest.h>

#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::server {
namespace {
using tests::Dense;
using tests::expect_close;
using tests::widen;

// Users with a few items each, of two kinds that like different halves. Item 0 has nobody.
Dense random_rows(Index num_users, Index num_items, std::uint64_t seed) {
  Rng rng(seed);
  Dense X = Dense::Zero(num_users, num_items);
  for (Index user = 0; user < num_users; ++user) {
    for (Index item = 1; item < num_items; ++item) {
      X(user, item) = rng.uniform() < (user % 2 == item % 2 ? 0.5 : 0.1) ? 1.0 : 0.0;
    }
    X(user, 1 + user % (num_items - 1)) = 1.0;  // nobody without items, no item without users
  }
  return X;
}

struct World {
  explicit World(const Dense& X)
      : co_occurrences(X.transpose() * X.rowwise().sum().cwiseInverse().asDiagonal() * X),
        degrees(X.colwise().sum().transpose()) {}
  [[nodiscard]] Dense normalised() const {
    const Eigen::VectorXd scales =
        degrees.unaryExpr([](double d) { return d > 0.0 ? 1.0 / std::sqrt(d) : 0.0; });
    return scales.asDiagonal() * co_occurrences * scales.asDiagonal();
  }
  [[nodiscard]] Matrix leading(Index rank, const SubspaceConfig& config) const {
    return leading_eigenvectors(degrees, rank, config, Rng(3), [&](const Matrix& table) {
      return Matrix((co_occurrences * widen(table)).cast<Real>());
    });
  }
  Dense co_occurrences;
  Eigen::VectorXd degrees;
};

TEST(SpectralStart, SpansTheLeadingEigenvectorsOfTheDenseMatrix) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const World world(random_rows(40, 23, seed));
    for (const Index rank : {1, 2, 7}) {
      const Matrix W = world.leading(rank, {.passes = 60, .oversampling = 5});
      const Eigen::SelfAdjointEigenSolver<Dense> dense(world.normalised());
      const Dense leading = dense.eigenvectors().rightCols(rank);
      expect_close(Dense(widen(W).transpose() * widen(W)), Dense(Dense::Identity(rank, rank)),
                   1e-5);
      expect_close(tests::gram(widen(W)), tests::gram(leading), 1e-3);
      EXPECT_TRUE(W.row(0).isZero(0.0F)) << "nobody has it";
    }
  }
}

TEST(SpectralStart, CatchesMostOfTheSpectrumInFewPasses) {
  const World world(random_rows(200, 90, 1));
  const Eigen::SelfAdjointEigenSolver<Dense> dense(world.normalised());
  const double most = dense.eigenvalues().tail(8).sum();
  const auto caught = [&](Index passes) {
    const Dense W = widen(world.leading(8, {.passes = passes, .oversampling = 8}));
    return (W.transpose() * world.normalised() * W).trace() / most;
  };
  EXPECT_LE(caught(1), caught(4));
  EXPECT_GT(caught(8), 0.98);
}

TEST(SpectralStart, HasZeroColumnsBeyondTheRank) {
  Dense X = Dense::Zero(2, 4);
  X(0, 0) = X(0, 1) = X(1, 2) = X(1, 3) = 1.0;
  const Matrix W = World(X).leading(6, {});
  ASSERT_EQ(W.cols(), 6);
  EXPECT_NEAR(widen(W).squaredNorm(), 2.0, 1e-5);
  EXPECT_TRUE(W.rightCols(4).isZero(0.0F));
}

// The tables as they are scaled, with the scores computed anew by the dense rows.
TEST(SpectralStart, IsScaledToItsMarginAndToEqualMeanSquares) {
  const Dense X = random_rows(40, 23, 2);
  const World world(X);
  const auto means_of = [&](const StartTables& start) {
    const Dense E = widen(start.item_embeddings);
    const Eigen::VectorXd counts = X.rowwise().sum();
    const Dense P = counts.cwiseSqrt().cwiseInverse().asDiagonal() * X *
                    widen(start.fold_in_weights.col(0)).asDiagonal() * E;
    const Dense scores = P * E.transpose();
    StartMeans means;
    for (Index user = 0; user < X.rows(); ++user) {
      means.margin += scores.row(user).dot(X.row(user)) / counts(user) - scores.row(user).mean();
    }
    means.margin /= static_cast<double>(X.rows());
    means.square = P.squaredNorm() / static_cast<double>(X.rows());
    return means;
  };
  const Matrix W = world.leading(5, {});
  StartTables start = make_start(W, world.degrees);
  const Dense F = widen(start.fold_in_weights.col(0)).asDiagonal() * widen(start.item_embeddings);
  expect_close(F, W);
  scale_start(start, means_of(start));
  const StartMeans scaled = means_of(start);
  EXPECT_NEAR(scaled.margin, 3.0, 1e-4);
  EXPECT_NEAR(scaled.square, widen(start.item_embeddings).squaredNorm() / 23.0, 1e-4);
}

TEST(SpectralStart, StaysAsItIsWhereThereIsNothingToScale) {
  StartTables start = make_start(Matrix::Zero(3, 2), Eigen::VectorXd::Zero(3));
  scale_start(start, {});
  EXPECT_TRUE(start.item_embeddings.isZero(0.0F));
}
}  // namespace
}  // namespace fedhur::server
