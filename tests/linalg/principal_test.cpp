#include "fedhur/linalg/principal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::linalg {
namespace {
using tests::Dense;
using tests::expect_close;

constexpr double kRootHalf = std::numbers::sqrt2 / 2.0;

TEST(PrincipalDirections, AreThoseOfTheListWithItsRepetitions) {
  const Matrix table = tests::random_matrix(5, 3, 1);
  const std::vector<Index> list = {0, 1, 1, 3, 3, 3};  // row 2 and 4 never
  Matrix written_out(6, 3);
  for (std::size_t i = 0; i < list.size(); ++i) {
    written_out.row(static_cast<Index>(i)) = table.row(list[i]);
  }
  const Eigen::VectorXd occurrences = (Eigen::VectorXd(5) << 1, 2, 0, 3, 0).finished();
  const Dense counted = principal_directions(table, occurrences, 2);
  const Dense expected = principal_directions(written_out, 2);
  EXPECT_TRUE((counted.transpose() * expected).cwiseAbs().isIdentity(1e-9));
}

TEST(PrincipalDirections, OfALineAreThatLine) {
  Matrix line(4, 3);
  for (Index i = 0; i < 4; ++i) line.row(i) << 1.0F, static_cast<Real>(2 * i), 5.0F;
  const Dense direction = principal_directions(line, 1);
  EXPECT_NEAR(std::abs(direction(1, 0)), 1.0, 1e-12);
}

TEST(PrincipalAngles, AreTheTrueOnesAndNotThoseOfMatchedVectors) {
  // Picking the largest signed cosine of two vectors first would find an obtuse angle here.
  const Dense A = (Dense(3, 2) << 1, 0, 0, 1, 0, 0).finished();
  const Dense B = (Dense(3, 2) << 0, kRootHalf, -1, 0, 0, kRootHalf).finished();
  const double angle = mean_principal_angle(A.transpose() * B);
  EXPECT_NEAR(angle, std::numbers::pi / 8.0, 1e-7);  // of 0 and 45 degrees
  EXPECT_NEAR(std::cos(angle), 0.92387953, 1e-7);
}

TEST(PrincipalAngles, AreExactEnoughNearZeroAndNearARightAngle) {
  for (const double angle : {0.0, 1e-6, 1e-3, 0.7, std::numbers::pi / 2 - 1e-6}) {
    const Dense A = (Dense(3, 1) << 1, 0, 0).finished();
    const Dense B = (Dense(3, 1) << std::cos(angle), 0, -std::sin(angle)).finished();
    EXPECT_NEAR(mean_principal_angle(A.transpose() * B), angle, 1e-7) << angle;
  }
}

TEST(PrincipalAngles, DoNotDependOnSignsOrderOrChoiceOfBasis) {
  const Dense A = exact_basis(tests::random_matrix(9, 3, 1));
  const Dense B = exact_basis(tests::random_matrix(9, 3, 2));
  const double angle = mean_principal_angle(A.transpose() * B);
  Dense signs = B;
  signs.col(0) = -B.col(2);
  signs.col(2) = B.col(0);
  EXPECT_NEAR(mean_principal_angle(A.transpose() * signs), angle, 1e-9);
  const Dense rotation = exact_basis(tests::random_matrix(3, 3, 3));
  EXPECT_NEAR(mean_principal_angle(A.transpose() * (B * rotation)), angle, 1e-9);
  EXPECT_NEAR(mean_principal_angle(B.transpose() * A), angle, 1e-9);
}

TEST(ExactBasis, IsOrthonormalInDoubleAndSpansTheSame) {
  const Matrix rounded = tests::random_basis(20, 4, 5);
  const Dense basis = exact_basis(rounded);
  EXPECT_TRUE((basis.transpose() * basis).isIdentity(1e-14));
  const Dense wide = rounded.cast<double>();
  expect_close(Dense(basis * (basis.transpose() * wide)), wide, 1e-12);
}

TEST(ExactBasis, LeavesOutWhatDepends) {
  Matrix columns = tests::random_matrix(6, 3, 1);
  columns.col(2) = columns.col(0) - columns.col(1);
  EXPECT_EQ(exact_basis(columns).cols(), 2);
  EXPECT_EQ(exact_basis(Matrix::Zero(6, 3)).cols(), 0);
  EXPECT_EQ(exact_basis(Matrix(6, 0)).cols(), 0);
}
}  // namespace
}  // namespace fedhur::linalg
