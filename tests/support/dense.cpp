#include "tests/support/dense.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/random_matrix.hpp"
#include "tests/support/decompositions.hpp"

namespace fedhur::tests {
namespace {
Matrix draw(Index rows, Index cols, std::uint64_t seed, std::uint64_t purpose) {
  return normal_matrix(rows, cols, 1.0F, Rng(seed).stream(Draw::synthetic, purpose));
}
}  // namespace

Dense widen(ConstMatrixRef matrix) { return matrix.cast<double>(); }
Dense product(const Dense& a, const Dense& b) { return a * b; }
Dense gram(const Dense& tall) { return product(tall, tall.transpose()); }
double distance(const Dense& a, const Dense& b) { return (a - b).norm(); }

double difference(const Dense& actual, const Dense& expected) {
  EXPECT_EQ(actual.rows(), expected.rows());
  EXPECT_EQ(actual.cols(), expected.cols());
  if (actual.rows() != expected.rows() || actual.cols() != expected.cols()) return 1e30;
  if (actual.size() == 0) return 0.0;
  const double error = (actual - expected).cwiseAbs().maxCoeff();
  return error == error ? error / std::max(1.0, expected.cwiseAbs().maxCoeff()) : 1e30;
}

void expect_near(const Dense& actual, const Dense& expected, double tolerance) {
  const double error = difference(actual, expected);
  if (actual.size() > 40) {  // too much to look at
    EXPECT_LE(error, tolerance);
  } else {
    EXPECT_LE(error, tolerance) << actual << "\nexpected\n" << expected;
  }
}

Matrix random_symmetric(Index size, std::uint64_t seed) {
  const Matrix square = draw(size, size, seed, 1);
  return 0.5F * (square + square.transpose());
}

Matrix random_basis(Index rows, Index cols, std::uint64_t seed) {
  Dense basis = widen(draw(rows, cols, seed, 2));
  for (Index i = 0; i < cols; ++i) {
    for (int pass = 0; pass < 2; ++pass) {  // Gram and Schmidt; twice is enough
      for (Index j = 0; j < i; ++j) {
        basis.col(i) -= basis.col(j).dot(basis.col(i)) * basis.col(j);
      }
    }
    basis.col(i).normalize();
  }
  return basis.cast<Real>();
}

server::Uploads random_uploads(Index num_clients, Index num_items, Index dim, std::uint64_t seed) {
  server::Uploads uploads;
  for (Index k = 0; k < num_clients; ++k) {
    uploads.push_back(std::make_shared<const Matrix>(
        draw(num_items, dim, seed, 100 + static_cast<std::uint64_t>(k))));
  }
  return uploads;
}

server::Uploads related_uploads(Index num_clients, Index num_items, Index dim, std::uint64_t seed) {
  const Matrix common = draw(num_items, dim, seed, 3);
  server::Uploads uploads;
  for (const auto& own : random_uploads(num_clients, num_items, dim, seed)) {
    uploads.push_back(std::make_shared<const Matrix>(common + 0.4F * *own));
  }
  return uploads;
}

linalg::ItemHierarchy random_hierarchy(Index num_items, Index num_levels, bool ends_with_items,
                                       std::uint64_t seed) {
  const Index columns = num_levels - (ends_with_items ? 1 : 0);
  Rng rng = Rng(seed).stream(Draw::synthetic, 4);
  MatrixOf<std::int32_t> members = MatrixOf<std::int32_t>::Zero(num_items, columns);
  std::vector<std::vector<Index>> groups(1);
  for (Index item = 0; item < num_items; ++item) groups[0].push_back(item);
  for (Index level = 0; level < columns; ++level) {
    std::vector<std::vector<Index>> finer;
    for (auto& items : groups) {
      const Index most = std::min<Index>(static_cast<Index>(items.size()), 4);
      const auto count =
          1 + static_cast<Index>(rng.below(static_cast<std::uint64_t>(std::max<Index>(1, most))));
      const std::size_t first = finer.size();
      finer.resize(first + static_cast<std::size_t>(count));
      // One item for each part before the others fall anywhere.
      std::vector<Index> shuffled = items;
      rng.shuffle(std::span(shuffled));
      for (std::size_t i = 0; i < shuffled.size(); ++i) {
        const std::size_t part =
            i < static_cast<std::size_t>(count) ? i : rng.below(static_cast<std::uint64_t>(count));
        members(shuffled[i], level) = static_cast<std::int32_t>(part);
        finer[first + part].push_back(shuffled[i]);
      }
      for (std::size_t part = first; part < finer.size(); ++part) {
        std::sort(finer[part].begin(), finer[part].end());
      }
    }
    groups = std::move(finer);
  }
  return linalg::from_table({.members = std::move(members), .ends_with_items = ends_with_items});
}

linalg::ItemFilter random_filter(Index num_items, Index rank, std::uint64_t seed) {
  Rng rng = Rng(seed).stream(Draw::synthetic, 5);
  std::vector<Real> lengths;
  for (Index i = 0; i < rank; ++i) {
    lengths.push_back(static_cast<Real>(std::sqrt(0.2 + 3.0 * rng.uniform())));
  }
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  Matrix factor = random_basis(num_items, rank, seed);
  for (Index i = 0; i < rank; ++i) factor.col(i) *= lengths[static_cast<std::size_t>(i)];
  return linalg::filter_of_factor(std::move(factor));
}

linalg::ItemFilter random_filter(const linalg::ItemHierarchy& hierarchy, Index rank,
                                 Real block_scale, std::uint64_t seed) {
  linalg::ItemFilter filter = random_filter(hierarchy.num_items, rank, seed);
  filter.hierarchy = std::make_shared<const linalg::ItemHierarchy>(hierarchy);
  for (std::size_t s = 0; s < hierarchy.scopes.size(); ++s) {
    filter.blocks.push_back(block_scale *
                            random_symmetric(hierarchy.scopes[s].num_members(), seed * 1000 + s));
  }
  return filter;
}

Dense dense_map(const linalg::Scope& scope, ConstMatrixRef block, Index num_items) {
  Dense map = Dense::Zero(num_items, num_items);
  for (Index a = 0; a < scope.num_members(); ++a) {
    for (Index b = 0; b < scope.num_members(); ++b) {
      for (const Index i : scope.member_items(a)) {
        for (const Index j : scope.member_items(b)) map(i, j) = static_cast<double>(block(a, b));
      }
    }
  }
  return map;
}

Dense dense_filter(const linalg::ItemFilter& filter) {
  Dense dense = gram(widen(*filter.factor));
  for (std::size_t s = 0; s < filter.blocks.size(); ++s) {
    dense += dense_map(filter.hierarchy->scopes[s], filter.blocks[s], filter.num_items());
  }
  return dense;
}

Dense dense_global_filter(const server::Uploads& uploads) {
  const Index num_items = uploads[0]->rows();
  Dense sum = Dense::Zero(num_items, num_items);
  for (const auto& E : uploads) sum += gram(widen(*E));
  return sum / static_cast<double>(uploads.size());
}

Dense dense_group_means(ConstMatrixRef embeddings, const linalg::Scope& scope) {
  Dense means = Dense::Zero(scope.num_members(), embeddings.cols());
  for (Index b = 0; b < scope.num_members(); ++b) {
    double count = 0.0;
    for (const Index item : scope.member_items(b)) {
      for (Index c = 0; c < embeddings.cols(); ++c) {
        means(b, c) += static_cast<double>(embeddings(item, c));
      }
      count += 1.0;
    }
    for (Index c = 0; c < embeddings.cols(); ++c) means(b, c) /= count;
  }
  return means;
}

Dense best_approximation(const Dense& symmetric, Index rank) {
  const EigenPairs pairs = eigen_pairs(symmetric);
  const Index kept = std::min(rank, symmetric.rows());
  Dense factor = pairs.vectors.rightCols(kept);
  for (Index i = 0; i < kept; ++i) {
    factor.col(i) *= std::sqrt(std::max(0.0, pairs.values(symmetric.rows() - kept + i)));
  }
  return gram(factor);
}
}  // namespace fedhur::tests
