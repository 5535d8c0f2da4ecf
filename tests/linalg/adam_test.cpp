#include "fedhur/linalg/adam.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fedhur/base/random.hpp"
#include "fedhur/linalg/kernels.hpp"
#include "tests/support/support.hpp"

namespace fedhur::linalg {
namespace {
using tests::random_matrix;

TEST(Adam, FollowsTheSpecificationWhenARowHasNoGradient) {
  Adam adam(1, 1);
  Matrix theta = Matrix::Ones(1, 1);
  RowGradient gradient(1, 1);
  const std::vector<float> gradients = {0.5F, 0.0F, -0.2F};
  const std::vector<double> expected = {0.900000002, 0.832994178, 0.808655134};
  for (std::size_t step = 0; step < gradients.size(); ++step) {
    if (gradients[step] != 0.0F) {
      gradient.touch(0);
      *gradient.row(0) = gradients[step];
    }
    adam.step(theta, gradient, 0.1F);
    gradient.clear();
    EXPECT_NEAR(theta(0, 0), expected[step], 1e-6) << step;
  }
}

// The exact twin: textbook dense Adam in double.
struct DenseAdam {
  MatrixOf<double> first, second;
  int steps = 0;
  void step(MatrixOf<double>& theta, const MatrixOf<double>& g, double rate) {
    if (steps == 0) {
      first.setZero(theta.rows(), theta.cols());
      second.setZero(theta.rows(), theta.cols());
    }
    ++steps;
    first = 0.9 * first + 0.1 * g;
    second = 0.999 * second + 0.001 * g.cwiseProduct(g);
    const MatrixOf<double> m = first / (1 - std::pow(0.9, steps));
    const MatrixOf<double> v = second / (1 - std::pow(0.999, steps));
    theta.array() -= rate * m.array() / (v.array().sqrt() + 1e-8);
  }
};

// A few entries of a few rows; the last two rows have none. The same as a dense matrix.
MatrixOf<double> draw_gradient(RowGradient& gradient, Index num_rows, Index num_cols, Rng& rng) {
  MatrixOf<double> dense = MatrixOf<double>::Zero(num_rows, num_cols);
  gradient.clear();
  for (int touch = 0; touch < 4; ++touch) {
    const auto row = static_cast<Index>(rng.below(static_cast<std::uint64_t>(num_rows - 2)));
    gradient.touch(row);
    const auto col = static_cast<Index>(rng.below(static_cast<std::uint64_t>(num_cols)));
    const auto value = static_cast<float>(rng.normal());
    gradient.row(row)[col] += value;
    dense(row, col) += static_cast<double>(value);
  }
  return dense;
}

constexpr Index kRows = 13;
constexpr Index kCols = 19;  // not a multiple of any vector width

TEST(Adam, EqualsDenseAdamOverManyStepsWithSparseGradients) {
  Matrix theta = random_matrix(kRows, kCols, 1);
  MatrixOf<double> twin = theta.cast<double>();
  Adam adam(kRows, kCols);
  DenseAdam dense;
  RowGradient gradient(kRows, kCols);
  Rng rng(9);
  for (int step = 0; step < 50; ++step) {
    const MatrixOf<double> g = draw_gradient(gradient, kRows, kCols, rng);
    adam.step(theta, gradient, 0.05F);
    dense.step(twin, g, 0.05);
  }
  EXPECT_LT((theta.cast<double>() - twin).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_EQ(theta.bottomRows(2), random_matrix(kRows, kCols, 1).bottomRows(2));
}

TEST(Adam, DecaysEveryEntryInEveryStepAsTheDenseTwinDoes) {
  Matrix theta = random_matrix(kRows, kCols, 1);
  MatrixOf<double> twin = theta.cast<double>();
  Adam adam(kRows, kCols, {.weight_decay = 0.3F});
  DenseAdam dense;
  RowGradient gradient(kRows, kCols);
  Rng rng(9);
  for (int step = 0; step < 20; ++step) {
    const MatrixOf<double> g = draw_gradient(gradient, kRows, kCols, rng);
    adam.step(theta, gradient, 0.01F);
    dense.step(twin, g + 0.3 * twin, 0.01);
  }
  EXPECT_LT((theta.cast<double>() - twin).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LT(theta.bottomRows(2).norm(), random_matrix(kRows, kCols, 1).bottomRows(2).norm());
}

TEST(Adam, IsAsNewAfterAReset) {
  for (const Real decay : {0.0F, 0.1F}) {
    Adam used(kRows, kCols, {.weight_decay = decay});
    Matrix other = random_matrix(kRows, kCols, 2);
    RowGradient gradient(kRows, kCols);
    Rng rng(9);
    for (int step = 0; step < 3; ++step) {
      (void)draw_gradient(gradient, kRows, kCols, rng);
      used.step(other, gradient, 0.1F);
    }
    used.reset();
    EXPECT_EQ(used.num_steps(), 0);
    EXPECT_EQ(used.save().rows.size(), 0);
    Adam fresh(kRows, kCols, {.weight_decay = decay});
    Matrix theta = random_matrix(kRows, kCols, 1);
    Matrix expected = theta;
    for (int step = 0; step < 3; ++step) {
      (void)draw_gradient(gradient, kRows, kCols, rng);
      used.step(theta, gradient, 0.1F);
      fresh.step(expected, gradient, 0.1F);
    }
    EXPECT_EQ(theta, expected) << decay;
  }
}

TEST(Descend, EqualsItsDenseTwin) {
  for (const double decay : {0.0, 0.4}) {
    Matrix theta = random_matrix(kRows, kCols, 1);
    MatrixOf<double> twin = theta.cast<double>();
    RowGradient gradient(kRows, kCols);
    Rng rng(9);
    for (int step = 0; step < 10; ++step) {
      const MatrixOf<double> g = draw_gradient(gradient, kRows, kCols, rng);
      descend(theta, gradient, 0.1F, static_cast<Real>(decay));
      twin -= 0.1 * (g + decay * twin);
    }
    EXPECT_LT((theta.cast<double>() - twin).cwiseAbs().maxCoeff(), 1e-5) << decay;
  }
}

TEST(Adam, GoesOnFromRestoredMomentsAsIfNeverInterrupted) {
  const auto step_all = [](Adam& adam, Matrix& theta, int from, int to) {
    RowGradient gradient(theta.rows(), theta.cols());
    for (int step = from; step < to; ++step) {
      const Index row = step % theta.rows();
      gradient.touch(row);
      gradient.row(row)[0] = static_cast<float>(step) - 2.5F;
      adam.step(theta, gradient, 0.01F);
      gradient.clear();
    }
  };
  Matrix whole = random_matrix(4, 3, 5);
  Matrix parts = whole;
  Adam uninterrupted(4, 3);
  step_all(uninterrupted, whole, 0, 8);
  Adam before(4, 3);
  step_all(before, parts, 0, 3);
  Adam after(4, 3);
  after.restore(before.save());
  step_all(after, parts, 3, 8);
  EXPECT_EQ(whole, parts);
}

TEST(Kernels, AgreeWithEigenForEveryLength) {
  for (Index count = 0; count < 70; ++count) {
    const Matrix x = random_matrix(1, count, 1);
    const Matrix a = random_matrix(1, count, 2);
    const Matrix c = random_matrix(1, count, 3);
    const double expected = x.cast<double>().cwiseProduct(a.cast<double>()).sum();
    EXPECT_NEAR(dot(x.data(), a.data(), count), expected, 1e-4) << count;
    Real xa = 0;
    Real xc = 0;
    dot_pair(x.data(), a.data(), c.data(), count, xa, xc);
    EXPECT_EQ(xa, dot(x.data(), a.data(), count));
    EXPECT_EQ(xc, dot(x.data(), c.data(), count));
  }
}

TEST(Kernels, FindTheLargestValueAndNotice) {
  for (Index count = 1; count < 40; ++count) {
    Matrix x = random_matrix(1, count, static_cast<std::uint64_t>(count));
    Real largest = 0;
    bool has_nan = true;
    largest_value(x.data(), count, largest, has_nan);
    EXPECT_EQ(largest, x.maxCoeff());
    EXPECT_FALSE(has_nan);
    for (Index at = 0; at < count; ++at) {
      Matrix bad = x;
      bad(0, at) = std::numeric_limits<Real>::quiet_NaN();
      largest_value(bad.data(), count, largest, has_nan);
      EXPECT_TRUE(has_nan) << count << " " << at;
    }
  }
}
}  // namespace
}  // namespace fedhur::linalg
