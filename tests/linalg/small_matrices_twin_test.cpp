// Eigenvalues, bases, rotations and relation filters against the dense solvers of the library
// beneath.
#include <gtest/gtest.h>

#include "fedhur/linalg/orthogonal.hpp"
#include "fedhur/linalg/relation_filter.hpp"
#include "fedhur/linalg/symmetric.hpp"
#include "tests/support/decompositions.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::linalg {
namespace {
using tests::Dense;
using tests::expect_close;
using tests::product;
using tests::widen;

Dense gram_of(ConstMatrixRef tall, double added) {
  Dense gram = tests::gram(widen(tall));
  gram.array() += added;
  return gram;
}

TEST(LargestEigenvalue, IsThatOfTheDenseMatrix) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const Index rows : {1, 2, 4, 5, 6, 13}) {  // on both sides of cols + 1
      for (const double inherited : {0.0, 0.3, 20.0}) {
        const Matrix tall = tests::random_matrix(rows, 4, seed);
        const double expected = tests::largest_eigenvalue(gram_of(tall, inherited));
        EXPECT_NEAR(largest_eigenvalue(tall, inherited), expected, 1e-5 * expected);
      }
    }
  }
}

TEST(LargestEigenvalue, OfZerosIsWhatIsInherited) {
  EXPECT_EQ(largest_eigenvalue(Matrix(0, 3), 0.0), 0.0);
  EXPECT_NEAR(largest_eigenvalue(Matrix::Zero(2, 3), 0.0), 0.0, 1e-12);
  EXPECT_NEAR(largest_eigenvalue(Matrix::Zero(2, 3), 0.5), 1.0, 1e-6);
  EXPECT_NEAR(largest_eigenvalue(Matrix::Zero(9, 3), 0.5), 4.5, 1e-5);
}

TEST(EigenPairs, DescendAndRebuildTheMatrix) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const Index size : {1, 2, 9}) {
      const Dense matrix = widen(tests::random_symmetric(size, seed));
      const EigenPairs pairs = eigen_pairs(matrix);
      for (Index i = 1; i < size; ++i) EXPECT_GE(pairs.values(i - 1), pairs.values(i));
      const Dense scaled = pairs.vectors * pairs.values.asDiagonal();
      expect_close(product(scaled, pairs.vectors.transpose()), matrix, 1e-12);
    }
  }
  EXPECT_EQ(eigen_pairs(Dense(0, 0)).values.size(), 0);
}

TEST(Pack, ComesBackFromTheUpperTriangle) {
  for (const Index size : {0, 1, 2, 7}) {
    const Matrix matrix = tests::random_symmetric(size, 3);
    std::vector<Real> packed(static_cast<std::size_t>(packed_size(size)));
    pack(matrix, packed.data());
    EXPECT_EQ(unpack(packed.data(), size), matrix);
  }
}

// Orthonormal columns, then zeros; nothing in between.
Index num_directions(const Matrix& basis) {
  Index count = 0;
  while (count < basis.cols() && basis.col(count).norm() > 0.5F) ++count;
  EXPECT_TRUE(basis.rightCols(basis.cols() - count).isZero(0.0F));
  const Dense found = widen(basis.leftCols(count));
  expect_close(tests::gram(found.transpose()), Dense(Dense::Identity(count, count)), 1e-5);
  return count;
}

// What of `tall` lies outside the basis, as a share of it.
double outside(const Matrix& tall, const Matrix& basis) {
  const Dense columns = widen(tall);
  const Dense Q = widen(basis);
  const Dense inside = product(Q, product(Q.transpose(), columns));
  return tests::distance(columns, inside) / std::max(1e-30, columns.norm());
}

TEST(Orthonormalize, SpansWhatTheColumnsSpan) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const Index cols : {1, 3, 8}) {
      const Matrix tall = tests::random_matrix(20, cols, seed);
      const Matrix basis = orthonormalize(tall);
      EXPECT_EQ(num_directions(basis), cols);
      EXPECT_LE(outside(tall, basis), 1e-5);
    }
  }
  EXPECT_EQ(orthonormalize(Matrix(4, 0)).cols(), 0);
}

TEST(Orthonormalize, TakesColumnsOfVeryDifferentLength) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Matrix tall = tests::random_matrix(15, 4, seed);
    tall.col(1) *= 1e-6F;
    tall.col(3) *= 1e6F;
    const Matrix basis = orthonormalize(tall);
    EXPECT_EQ(num_directions(basis), 4);
    for (Index i = 0; i < 4; ++i) EXPECT_LE(outside(tall.col(i), basis), 1e-4) << i;
  }
}

TEST(Orthonormalize, TakesColumnsThatAreNearlyDependent) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Matrix tall = tests::random_matrix(15, 4, seed);
    tall.col(2) = tall.col(0) + 1e-3F * tall.col(1);
    tall.col(3) = tall.col(0) + 1e-2F * tall.col(3);
    const Matrix basis = orthonormalize(tall);
    EXPECT_GE(num_directions(basis), 3);
    EXPECT_LE(outside(tall, basis), 1e-4);
  }
}

TEST(Orthonormalize, EndsWithZerosWhereColumnsAreDependent) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Matrix tall = tests::random_matrix(12, 6, seed);
    tall.col(4) = tall.col(0);                       // a copy
    tall.col(5) = 2.0F * tall.col(1) - tall.col(2);  // a mixture
    const Matrix basis = orthonormalize(tall);
    EXPECT_EQ(num_directions(basis), 4);
    EXPECT_LE(outside(tall, basis), 1e-4);
    tall.col(3).setZero();
    EXPECT_EQ(num_directions(orthonormalize(tall)), 3);
    EXPECT_EQ(num_directions(orthonormalize(Matrix::Zero(12, 2))), 0);
    // More columns than rows: as many directions as rows.
    EXPECT_EQ(num_directions(orthonormalize(tests::random_matrix(3, 7, seed))), 3);
    EXPECT_EQ(num_directions(orthonormalize(tests::random_matrix(1, 3, seed))), 1);
  }
}

void expect_orthogonal(const Dense& O) {
  expect_close(tests::gram(O.transpose()), Dense(Dense::Identity(O.rows(), O.cols())), 1e-6);
}

TEST(PolarFactor, IsTheOrthogonalFactorOfTheSingularValueDecomposition) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const Index size : {1, 2, 5, 12}) {
      for (const double scale : {1e-6, 1.0, 1e6}) {
        const Dense matrix = scale * widen(tests::random_matrix(size, size, seed));
        expect_close(polar_factor(matrix), Dense(tests::orthogonal_factor(matrix)), 1e-5);
      }
    }
  }
}

TEST(PolarFactor, OfASingularMatrixIsOneOfTheNearest) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Dense matrix = widen(tests::random_matrix(6, 6, seed));
    matrix.col(4) = matrix.col(1);
    matrix.row(5).setZero();
    for (const Dense& singular : {matrix, Dense(Dense::Zero(4, 4)), Dense(Dense::Ones(3, 3))}) {
      const Dense O = polar_factor(singular);
      expect_orthogonal(O);
      // The nearest have in common that <O, matrix> is the sum of the singular values.
      const double nuclear = tests::svd(singular).values.sum();
      EXPECT_NEAR(O.cwiseProduct(singular).sum(), nuclear, 1e-6 * (1.0 + nuclear));
    }
  }
}

TEST(RelationFilter, AppliesItsDenseMatrix) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const ItemHierarchy hierarchy = tests::random_hierarchy(14, 2, true, seed);
    const Matrix factor = tests::random_matrix(14, 3, seed);
    for (const double inherited : {0.0, 0.7}) {
      const Scope& scope = hierarchy.scopes.back();
      const RelationFilter filter = filter_of_items(factor, scope, inherited);
      Matrix own(scope.num_members(), 3);
      for (Index b = 0; b < own.rows(); ++b) own.row(b) = factor.row(scope.member_items(b)[0]);
      const Dense dense = gram_of(own, inherited);
      ASSERT_EQ(filter.size(), dense.rows());
      expect_close(filter.to_dense(), dense);
      const Matrix X = tests::random_matrix(dense.rows(), 2, seed);
      expect_close(filter.apply(X), product(dense, widen(X)));
      EXPECT_NEAR(filter.spectral_norm(), tests::largest_eigenvalue(dense), 1e-4);
      const RelationFilter group{.dense = dense.cast<Real>(), .factor = {}, .inherited = 0.0};
      expect_close(group.apply(X), filter.apply(X));
      EXPECT_NEAR(group.spectral_norm(), filter.spectral_norm(), 1e-4);
      for (Index b = 0; b < dense.rows(); ++b) {
        EXPECT_NEAR(filter.diagonal(b), dense(b, b), 1e-5);
        EXPECT_NEAR(group.diagonal(b), dense(b, b), 1e-5);
      }
    }
  }
}

TEST(LevelWeight, OfTheLastLevelGivenHoldsForAllFinerOnes) {
  EXPECT_EQ(level_weight({0.5F, 0.25F}, 0), 0.5F);
  EXPECT_EQ(level_weight({0.5F, 0.25F}, 1), 0.25F);
  EXPECT_EQ(level_weight({0.5F, 0.25F}, 7), 0.25F);
  EXPECT_THROW((void)level_weight({}, 0), std::logic_error);
}

TEST(PolarFactor, OfALargeSingularMatrixIsCompleted) {
  MatrixOf<double> matrix = MatrixOf<double>::Zero(3, 3);
  matrix(0, 0) = 1e8;
  const MatrixOf<double> factor = polar_factor(matrix);
  EXPECT_TRUE((factor.transpose() * factor).isIdentity(1e-9)) << factor;
  EXPECT_NEAR(factor(0, 0), 1.0, 1e-9);
}
}  // namespace
}  // namespace fedhur::linalg
