// Sums that come out alike in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fedhur/base/fixed_point_sum.hpp"
#include "fedhur/base/parallel.hpp"
#include "fedhur/base/random_matrix.hpp"
#include "fedhur/base/sparse_sum.hpp"

namespace fedhur {
namespace {
using Counts = SparseMatrix<std::int64_t>;

// Magnitudes from 1e-8 to 1000, where sums of floats depend on their order.
std::vector<Matrix> terms_of_all_sizes(Index count) {
  std::vector<Matrix> terms;
  for (Index k = 0; k < count; ++k) {
    Matrix term = normal_matrix(37, 5, 1.0F, Rng(3).stream(Draw::item_init, k));
    for (Index i = 0; i < term.size(); ++i) {
      term.data()[i] *= std::pow(10.0F, static_cast<Real>((i + k) % 11 - 8));
    }
    terms.push_back(term.cwiseMax(-1000.0F).cwiseMin(1000.0F));
  }
  return terms;
}

TEST(FixedPointSum, IsThatOfDoubles) {
  const auto terms = terms_of_all_sizes(50);
  FixedPointSum sum(37, 5, 50000);
  MatrixOf<double> expected = MatrixOf<double>::Zero(37, 5);
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const Real factor = static_cast<Real>(k) / 49.0F;
    sum.add(terms[k], factor);
    expected += static_cast<double>(factor) * terms[k].cast<double>();
  }
  const double unit = std::ldexp(1.0, 16 - 62);
  EXPECT_LE((sum.in_doubles() - expected).cwiseAbs().maxCoeff(), 25 * unit + 1e-12);
  EXPECT_TRUE(sum.times(0.02).isApprox((0.02 * expected).cast<Real>(), 1e-6F));
}

TEST(FixedPointSum, HasTheSameBitsInAnyOrderAndFromAnyNumberOfThreads) {
  auto terms = terms_of_all_sizes(64);
  FixedPointSum expected(37, 5, 64000);
  for (const Matrix& term : terms) expected.add(term, 0.7F);
  for (const Index num_threads : {1, 2, 5}) {
    std::ranges::reverse(terms);
    FixedPointSum sum(37, 5, 64000);
    Executor(num_threads).for_each(std::ssize(terms), [&](Index i) {
      sum.add(terms[static_cast<std::size_t>(i)], 0.7F);
    });
    EXPECT_EQ(sum.in_doubles(), expected.in_doubles());
  }
}

TEST(FixedPointSum, KeepsWholeNumbersAndRoundsToTheNearestUnit) {
  FixedPointSum counts(1, 2, 0x1p42);
  counts.add(MatrixOf<double>((MatrixOf<double>(1, 2) << 0x1p32, 3).finished()));
  counts.add(MatrixOf<double>((MatrixOf<double>(1, 2) << 1, 0x1p32 - 1).finished()));
  EXPECT_EQ(counts.in_doubles()(0, 0), 0x1p32 + 1);
  EXPECT_EQ(counts.in_doubles()(0, 1), 0x1p32 + 2);
  const double unit = 0x1p-20;  // 2^42 / 2^62
  for (const double value : {0.5, 0.75, -0.75, 1.5, 2.5, -2.5, 0x1p40 + 0.75}) {
    FixedPointSum one(1, 1, 0x1p42);
    one.add(MatrixOf<double>(MatrixOf<double>::Constant(1, 1, value * unit)));
    EXPECT_EQ(one.in_doubles()(0, 0), std::nearbyint(value) * unit) << value;
  }
}

TEST(FixedPointSum, HoldsTheLargestSumThereIsRoomFor) {
  for (const Real sign : {1.0F, -1.0F}) {
    FixedPointSum sum(1, 3, 7000);
    for (int i = 0; i < 7; ++i) sum.add(Matrix(Matrix::Constant(1, 3, sign * 1000.0F)));
    EXPECT_EQ(sum.in_doubles()(0, 2), 7000.0 * static_cast<double>(sign));
  }
}

TEST(FixedPointSum, RefusesWhatItHasNoRoomFor) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_THROW(FixedPointSum(2, 2, kInfinite), std::logic_error);
  EXPECT_THROW(FixedPointSum(2, 2, -1), std::logic_error);
  FixedPointSum sum(2, 2, 3);
  EXPECT_THROW(sum.add(Matrix(Matrix::Zero(2, 3))), std::logic_error);
  EXPECT_THROW(sum.add(Matrix(Matrix::Zero(2, 2)), 1.5F), std::logic_error);
  FixedPointSum nothing(0, 4, 0);
  nothing.add(Matrix(Matrix::Zero(0, 4)));
  EXPECT_EQ(nothing.times(1).rows(), 0);
}

Shared<Counts> random_counts(std::uint64_t seed, Index num_entries) {
  Rng rng(seed);
  std::vector<Index> places;
  for (Index i = 0; i < num_entries; ++i) places.push_back(static_cast<Index>(rng.below(30 * 30)));
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  Counts counts(30, 30);
  for (const Index place : places) counts.append(place, static_cast<std::int64_t>(rng.below(1000)));
  return std::make_shared<const Counts>(std::move(counts));
}

TEST(SparseSum, IsTheSameInAnyOrderAndFromAnyNumberOfThreads) {
  std::vector<Shared<Counts>> terms;
  MatrixOf<std::int64_t> expected = MatrixOf<std::int64_t>::Zero(30, 30);
  for (std::uint64_t k = 0; k < 23; ++k) {
    terms.push_back(random_counts(k, 40 * static_cast<Index>(k % 5)));
    for (std::size_t e = 0; e < terms.back()->num_entries(); ++e) {
      expected(terms.back()->row_of(e), terms.back()->col_of(e)) += terms.back()->values()[e];
    }
  }
  Shared<Counts> first;
  for (const Index num_threads : {1, 2, 7}) {
    std::rotate(terms.begin(), terms.begin() + 5, terms.end());
    SparseSum sum(30, 30);
    Executor(num_threads).for_each(std::ssize(terms), [&](Index i) {
      sum.add(terms[static_cast<std::size_t>(i)]);
    });
    const Shared<Counts> total = sum.take();
    if (!first) first = total;
    EXPECT_TRUE(total->is_same(*first));
    MatrixOf<std::int64_t> dense = MatrixOf<std::int64_t>::Zero(30, 30);
    for (std::size_t e = 0; e < total->num_entries(); ++e) {
      dense(total->row_of(e), total->col_of(e)) = total->values()[e];
    }
    EXPECT_EQ(dense, expected);
    EXPECT_EQ(sum.take()->num_entries(), 0U) << "it was taken";
  }
}

TEST(SparseSum, OfNothingIsEmptyAndOfOneThatOne) {
  SparseSum sum(30, 30);
  EXPECT_EQ(sum.take()->rows(), 30);
  const auto one = random_counts(4, 50);
  sum.add(one);
  EXPECT_EQ(sum.take(), one);
  EXPECT_THROW(sum.add(std::make_shared<const Counts>(30, 29)), std::logic_error);
}
}  // namespace
}  // namespace fedhur
