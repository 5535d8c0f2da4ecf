#include "fedhur/server/sparse_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fedhur/base/random.hpp"
#include "fedhur/base/sparse_sum.hpp"
#include "tests/support/dense.hpp"

namespace fedhur::server {
namespace {
using tests::Dense;
constexpr double kUnit = 1 << 20;

CoOccurrences upper_triangle(Index num_items, const std::vector<std::int64_t>& entries) {
  CoOccurrences counts(num_items, num_items);
  auto next = entries.begin();
  for (Index i = 0; i < num_items; ++i) {
    for (Index j = i; j < num_items; ++j, ++next) {
      if (*next != 0) counts.append(i, j, *next);
    }
  }
  return counts;
}

Shared<CoOccurrences> shared(CoOccurrences counts) {
  return std::make_shared<const CoOccurrences>(std::move(counts));
}

const std::vector<std::int64_t> kSum = {2088306, 1346851, 605396,  741455,  0,
                                        1871139, 1129684, 524288,  524288,  1735080,
                                        1129684, 1129684, 1871139, 1129684, 1129684};

std::vector<Shared<CoOccurrences>> example_uploads() {
  return {shared(upper_triangle(
              5, {1346851, 1346851, 605396, 0, 0, 1346851, 605396, 0, 0, 605396, 0, 0, 0, 0, 0})),
          shared(upper_triangle(5, {0, 0, 0, 0, 0, 524288, 524288, 524288, 524288, 524288, 524288,
                                    524288, 524288, 524288, 524288})),
          shared(upper_triangle(5, {741455, 0, 0, 741455, 0, 0, 0, 0, 0, 605396, 605396, 605396,
                                    1346851, 605396, 605396}))};
}

Dense widen(const SparseMatrix<Real>& filter) {
  Dense dense = Dense::Zero(filter.rows(), filter.cols());
  for (std::size_t e = 0; e < filter.num_entries(); ++e) {
    dense(filter.row_of(e), filter.col_of(e)) = static_cast<double>(filter.values()[e]);
  }
  return dense;
}

SparseMatrix<Real> fit(const CoOccurrences& sum, const SparseFilterConfig& config,
                       Index num_threads = 1) {
  const Executor executor(num_threads);
  return fit_sparse_filter(sum, kUnit, config, executor);
}

TEST(SparseFilter, IsOfTheSumOfTheWorkedExample) {
  SparseSum sum(5, 5);
  for (const auto& counts : example_uploads()) sum.add(counts);
  EXPECT_TRUE(sum.take()->is_same(upper_triangle(5, kSum)));
}

TEST(SparseFilter, IsThatOfTheWorkedExample) {
  const auto filter =
      fit(upper_triangle(5, kSum), {.neighbors = 2, .regularization = 0.5, .denoising = 1});
  Dense expected = Dense::Zero(5, 5);
  expected.col(0) << 0, 0.29883318, 0, 0.13706113, 0;
  expected.col(1) << 0.25506605, 0, 0.24415590, 0, 0;
  expected.col(2) << 0, 0.21999841, 0, 0, 0.36439182;
  expected.col(3) << 0, 0, 0.18982718, 0, 0.32879037;
  expected.col(4) << 0, 0, 0.22476200, 0.20526437, 0;
  EXPECT_EQ(filter.num_entries(), 10U);
  tests::expect_near(widen(filter), expected, 2e-8);
}

TEST(SparseFilter, OnAllItemsIsThatOfTheWorkedExample) {
  const auto filter =
      fit(upper_triangle(5, kSum), {.neighbors = 0, .regularization = 0.5, .denoising = 1});
  Dense column(5, 1);
  column << 0, 0.29719510, 0.06393862, 0.15912258, -0.14649960;
  tests::expect_near(widen(filter).col(0), column, 2e-8);
}

TEST(SparseFilter, WithAllUsersAlikeAndNoDenoisingIsEaseInTheWorkedExample) {
  std::vector<std::int64_t> counts = {3, 2, 1, 1, 0, 3, 2, 1, 1, 3, 2, 2, 3, 2, 2};
  for (std::int64_t& count : counts) count <<= 20;
  const auto filter =
      fit(upper_triangle(5, counts), {.neighbors = 0, .regularization = 0.5, .denoising = 0});
  Dense column(5, 1);
  column << 0, 0.594427, 0.055728, 0.452012, -0.643963;
  tests::expect_near(widen(filter).col(0), column, 6e-7);
}

// What rows of users and items come to, written out: C, and the filter by solving whole systems.
Dense random_rows(Index num_users, Index num_items, std::uint64_t seed) {
  Rng rng(seed);
  Dense rows = Dense::Zero(num_users, num_items);
  for (Index u = 1; u < num_users; ++u) {        // the first user has nothing
    for (Index i = 0; i + 1 < num_items; ++i) {  // the last item is nobody's
      rows(u, i) = rng.uniform() < 3.0 / static_cast<double>(i + 4) ? 1 : 0;
    }
  }
  return rows;
}

Dense gram_of(const Dense& rows, double exponent) {
  Dense weighted = rows;
  for (Index u = 0; u < rows.rows(); ++u) {
    const double size = rows.row(u).sum();
    weighted.row(u) *= size > 0 ? std::floor(kUnit * std::pow(size, -exponent) + 0.5) / kUnit : 0;
  }
  return tests::product(rows.transpose(), weighted);
}

CoOccurrences to_counts(const Dense& gram) {
  std::vector<std::int64_t> entries;
  for (Index i = 0; i < gram.rows(); ++i) {
    for (Index j = i; j < gram.cols(); ++j) {
      entries.push_back(static_cast<std::int64_t>(std::lround(gram(i, j) * kUnit)));
    }
  }
  return upper_triangle(gram.rows(), entries);
}

Dense dense_filter(const Dense& gram, const SparseFilterConfig& config) {
  const Index n = gram.rows();
  Dense filter = Dense::Zero(n, n);
  for (Index j = 0; j < n; ++j) {
    std::vector<Index> others;
    for (Index i = 0; i < n; ++i) {
      if (i != j && (gram(i, j) > 0 || config.neighbors == 0)) others.push_back(i);
    }
    const auto cosine = [&](Index i) { return gram(i, j) / std::sqrt(gram(i, i)); };
    if (config.neighbors > 0) {
      std::ranges::stable_sort(others, [&](Index a, Index b) { return cosine(a) > cosine(b); });
      others.resize(std::min(others.size(), static_cast<std::size_t>(config.neighbors)));
    }
    const auto size = std::ssize(others);
    if (size == 0) continue;
    Eigen::MatrixXd system(size, size);
    Eigen::VectorXd target(size);
    for (Index a = 0; a < size; ++a) {
      const Index i = others[static_cast<std::size_t>(a)];
      target(a) = gram(i, j);
      for (Index b = 0; b < size; ++b) system(a, b) = gram(i, others[static_cast<std::size_t>(b)]);
      system(a, a) += config.regularization + config.denoising * gram(i, i);
    }
    const Eigen::VectorXd weights = system.fullPivLu().solve(target);
    for (Index a = 0; a < size; ++a) filter(others[static_cast<std::size_t>(a)], j) = weights(a);
  }
  return filter;
}

TEST(SparseFilter, IsWhatADenseTwinComputes) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Dense gram = gram_of(random_rows(60, 37, seed), 0.5);
    for (const Index neighbors : {0, 1, 5, 20, 100}) {
      for (const double denoising : {0.0, 0.7}) {
        const SparseFilterConfig config{neighbors, 2.5, denoising};
        tests::expect_near(widen(fit(to_counts(gram), config)), dense_filter(gram, config), 1e-6);
      }
    }
  }
}

TEST(SparseFilter, FindsWhatIsInLongRowsOfALargeCatalogue) {
  // Item 0 occurs with 201 of 1700 items, each of which has two others beside it.
  constexpr Index kItems = 1700;
  Dense gram = Dense::Zero(kItems, kItems);
  for (Index user = 0; user < 200; ++user) {
    for (const Index i : {Index{0}, user + 1, user + 2}) {
      for (const Index j : {Index{0}, user + 1, user + 2}) gram(i, j) += 1.0;
    }
  }
  CoOccurrences sum(kItems, kItems);
  for (Index i = 0; i < kItems; ++i) {
    for (Index j = i; j < kItems; ++j) {
      if (gram(i, j) > 0) sum.append(i, j, static_cast<std::int64_t>(gram(i, j) * kUnit));
    }
  }
  const SparseFilterConfig config{.neighbors = 3, .regularization = 2};
  tests::expect_near(widen(fit(sum, config)), dense_filter(gram, config), 1e-6);
}

TEST(SparseFilter, OnAllItemsIsEase) {
  // EASE in its closed form: B_ij = -P_ij / P_jj, P = (X^T X + lambda)^-1.
  const Dense gram = gram_of(random_rows(60, 37, 9), 0.0);
  const Dense inverse = Eigen::MatrixXd(gram + 4.0 * Dense::Identity(37, 37)).fullPivLu().inverse();
  Dense ease(37, 37);
  for (Index j = 0; j < 37; ++j) ease.col(j) = -inverse.col(j) / inverse(j, j);
  ease.diagonal().setZero();
  tests::expect_near(widen(fit(to_counts(gram), {0, 4.0, 0.0})), ease, 1e-6);
  // As many neighbours as there are items, one by one, are all items but those never met.
  const Dense sparse = widen(fit(to_counts(gram), {37, 4.0, 0.0}));
  for (Index j = 0; j < 37; ++j) {
    if ((gram.col(j).topRows(36).array() > 0).all()) {
      tests::expect_near(sparse.col(j), ease.col(j), 1e-6);
    }
  }
}

TEST(SparseFilter, ScalesTheScoresOfAnItemByItsCount) {
  const CoOccurrences sum = upper_triangle(5, kSum);
  for (const Index neighbors : {0, 2}) {
    const Dense plain = widen(fit(sum, {.neighbors = neighbors, .regularization = 0.5}));
    const Dense scaled = widen(
        fit(sum, {.neighbors = neighbors, .regularization = 0.5, .popularity_correction = 0.5}));
    const std::array<double, 5> counts = {2088306, 1871139, 1735080, 1871139, 1129684};
    for (Index j = 0; j < 5; ++j) {
      const double count = counts[static_cast<std::size_t>(j)] / kUnit;
      tests::expect_near(scaled.col(j), plain.col(j) / std::sqrt(count), 1e-7);
    }
  }
}

TEST(SparseFilter, WithPositiveWeightsIsTheSameWithoutTheOthers) {
  const CoOccurrences sum = to_counts(gram_of(random_rows(60, 37, 3), 0.5));
  for (const Index neighbors : {0, 20}) {
    const auto all = fit(sum, {.neighbors = neighbors});
    const auto positive = fit(sum, {.neighbors = neighbors, .positive = true});
    EXPECT_LT(positive.num_entries(), all.num_entries());
    tests::expect_near(widen(positive), widen(all).cwiseMax(0.0), 0.0);
  }
}

TEST(SparseFilter, PrefersTheLowerIndexAmongEqualNeighbors) {
  // Item 0 occurs once with each of three items that are alike.
  const auto sum = upper_triangle(4, {6, 2, 2, 2, 2, 0, 0, 2, 0, 2});
  const auto filter = fit(sum, {.neighbors = 2, .regularization = 1, .denoising = 0});
  EXPECT_NE(widen(filter)(1, 0), 0);
  EXPECT_NE(widen(filter)(2, 0), 0);
  EXPECT_EQ(widen(filter)(3, 0), 0);
}

TEST(SparseFilter, HasNothingForItemsThatNobodyHas) {
  for (const Index neighbors : {0, 3}) {
    EXPECT_EQ(fit(CoOccurrences(6, 6), {.neighbors = neighbors}).num_entries(), 0U);
    const auto filter = fit(upper_triangle(3, {5, 0, 4, 0, 0, 6}), {.neighbors = neighbors});
    EXPECT_EQ(filter.places(), (std::vector<Index>{2, 6}));
  }
  EXPECT_EQ(fit(CoOccurrences(0, 0), {}).num_entries(), 0U);
}

TEST(SparseFilter, IsTheSameForAnyNumberOfThreads) {
  const CoOccurrences sum = to_counts(gram_of(random_rows(200, 150, 4), 0.5));
  for (const Index neighbors : {0, 30}) {
    const SparseFilterConfig config{.neighbors = neighbors};
    const auto alone = fit(sum, config);
    EXPECT_GT(alone.num_entries(), 1000U);
    EXPECT_TRUE(fit(sum, config, 2).is_same(alone));
    EXPECT_TRUE(fit(sum, config, 3).is_same(alone));
  }
}
}  // namespace
}  // namespace fedhur::server
