#include "fedhur/linalg/item_filter.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/linalg/normalize.hpp"
#include "fedhur/linalg/orthogonal.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::linalg {
namespace {
using Square = MatrixOf<double>;

// The rows of a scope's members: of its items, or the sums over the items of each group.
Matrix sum_members(ConstMatrixRef rows, const Scope& scope) {
  if (scope.is_of_items()) return rows(scope.items, Eigen::all);
  Matrix sums = Matrix::Zero(scope.num_members(), rows.cols());
  for (Index b = 0; b < scope.num_members(); ++b) {
    for (const Index item : scope.member_items(b)) sums.row(b) += rows.row(item);
  }
  return sums;
}

// The same of every scope but those of the last level, from the finest up, so that every item is
// added once.
std::vector<Matrix> sum_coarse_members(ConstMatrixRef rows, const ItemHierarchy& hierarchy) {
  std::vector<Matrix> sums(hierarchy.scopes.size());
  const Index last_level = hierarchy.num_levels() - 1;
  for (Index s = hierarchy.num_scopes() - 1; s >= 0; --s) {
    const Scope& scope = hierarchy.scopes[static_cast<std::size_t>(s)];
    if (scope.parent < 0) continue;
    Matrix& above = sums[static_cast<std::size_t>(scope.parent)];
    if (above.size() == 0) {
      above.resize(hierarchy.scopes[static_cast<std::size_t>(scope.parent)].num_members(),
                   rows.cols());
    }
    Eigen::RowVectorX<Real> sum = Eigen::RowVectorX<Real>::Zero(rows.cols());
    if (scope.level < last_level) {
      sum = sums[static_cast<std::size_t>(s)].colwise().sum();
    } else {
      for (const Index item : scope.items) sum += rows.row(item);
    }
    above.row(scope.member) = sum;
  }
  return sums;
}

// The sum of squares of the entries that lie in a scope and below it, if `constant` is added to all
// of them.
double squared_norm_below(const ItemFilter& filter, const std::vector<Index>& first_child, Index s,
                          double constant) {
  const Scope& scope = filter.hierarchy->scopes[static_cast<std::size_t>(s)];
  const Matrix& block = filter.blocks[static_cast<std::size_t>(s)];
  const bool is_last = first_child[static_cast<std::size_t>(s)] < 0;
  double sum = 0.0;
  for (Index a = 0; a < scope.num_members(); ++a) {
    const auto size = static_cast<double>(scope.member_items(a).size());
    for (Index b = 0; b < scope.num_members(); ++b) {
      const double value = static_cast<double>(block(a, b)) + constant;
      if (a == b && !is_last) {
        sum += squared_norm_below(filter, first_child, first_child[static_cast<std::size_t>(s)] + a,
                                  value);
      } else {
        sum += value * value * size * static_cast<double>(scope.member_items(b).size());
      }
    }
  }
  return sum;
}

double squared_norm_of_blocks(const ItemFilter& filter) {
  const ItemHierarchy& hierarchy = *filter.hierarchy;
  std::vector<Index> first_child(hierarchy.scopes.size(), -1);
  for (Index s = hierarchy.num_scopes() - 1; s >= 0; --s) {
    const Scope& scope = hierarchy.scopes[static_cast<std::size_t>(s)];
    if (scope.parent >= 0) first_child[static_cast<std::size_t>(scope.parent)] = s - scope.member;
  }
  return squared_norm_below(filter, first_child, 0, 0.0);
}

// Y^T filter Y.
Square project(const ItemFilter& filter, const Matrix& Y) {
  const Matrix coordinates = filter.factor->transpose() * Y;
  Square core = (coordinates.transpose() * coordinates).cast<double>();
  core += (Y.transpose() * filter.apply_blocks(Y)).cast<double>();
  return 0.5 * (core + core.transpose());
}

// Rayleigh-Ritz in the span of Y: among all T of `dim` columns in that span, the best.
ItemFactor best_in_span(const ItemFilter& filter, Matrix Y, Index dim) {
  const Square inverse = orthonormalizer(Y);
  const Square core = inverse.transpose() * project(filter, Y) * inverse;
  const Eigen::LLT<Square> cholesky(core);
  Square root = cholesky.matrixL();  // any root will do where all of it is positive and wanted
  if (core.rows() > dim || cholesky.info() != Eigen::Success) {
    const EigenPairs pairs = eigen_pairs(core);
    const Index rank = std::min(dim, (pairs.values.array() > 0.0).count());
    root = pairs.vectors.leftCols(rank) * pairs.values.head(rank).cwiseSqrt().asDiagonal();
  }
  return {.tall = std::make_shared<const Matrix>(std::move(Y)), .small = inverse * root};
}

// For a factor narrower than the embeddings. Beyond it the spectrum is that of the blocks, whose
// negative part can be as large as the positive one: what the Ritz values show of it is shifted
// away, so that the iteration ends at the largest eigenvalues, not at those of largest modulus.
ItemFactor best_beyond_factor(const ItemFilter& filter, ConstMatrixRef start, Index passes) {
  const Index rank = filter.factor->cols();
  Matrix Q(filter.num_items(), rank + start.cols());
  Q.leftCols(rank) = *filter.factor;
  Q.rightCols(start.cols()) = start;
  Q = orthonormalize(std::move(Q));
  double shift = 0.0;
  for (Index pass = 0; pass < passes; ++pass) {
    const EigenPairs ritz = eigen_pairs(project(filter, Q));
    shift = std::max(shift, -ritz.values(ritz.values.size() - 1));
    Matrix product = filter.apply(Q);
    product += static_cast<Real>(shift) * Q;
    Q = orthonormalize(std::move(product));
  }
  return best_in_span(filter, std::move(Q), start.cols());
}
}  // namespace

Matrix ItemFilter::apply_blocks(ConstMatrixRef columns) const {
  if (!has_blocks()) return Matrix::Zero(columns.rows(), columns.cols());
  Matrix result(columns.rows(), columns.cols());
  // Coarse to fine: what a pair of groups has in common is handed down to their members. Only the
  // last level is as long as the items, and it is worked on scope by scope.
  std::vector<Matrix> products = sum_coarse_members(columns, *hierarchy);
  const Index last_level = hierarchy->num_levels() - 1;
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    const Scope& scope = hierarchy->scopes[s];
    const bool is_last = scope.level == last_level;
    Matrix own = blocks[s] * (is_last ? sum_members(columns, scope) : products[s]);
    if (scope.parent >= 0) {
      own.rowwise() += products[static_cast<std::size_t>(scope.parent)].row(scope.member);
    }
    if (!is_last) {
      products[s] = std::move(own);
      continue;
    }
    for (Index b = 0; b < scope.num_members(); ++b) {
      for (const Index item : scope.member_items(b)) result.row(item) = own.row(b);
    }
  }
  return result;
}

Matrix ItemFilter::apply(ConstMatrixRef columns) const {
  Matrix result = apply_blocks(columns);
  const Matrix coordinates = factor->transpose() * columns;
  result.noalias() += *factor * coordinates;
  return result;
}

double ItemFilter::squared_norm() const {
  double sum = values.squaredNorm();
  if (!has_blocks()) return sum;
  const Matrix product = apply_blocks(*factor);
  sum += 2.0 * factor->cast<double>().cwiseProduct(product.cast<double>()).sum();
  return sum + squared_norm_of_blocks(*this);
}

double ItemFilter::trace() const {
  double sum = values.sum();
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    const Scope& scope = hierarchy->scopes[s];
    for (Index b = 0; b < scope.num_members(); ++b) {
      sum +=
          static_cast<double>(blocks[s](b, b)) * static_cast<double>(scope.member_items(b).size());
    }
  }
  return sum;
}

Matrix ItemFilter::to_dense() const { return apply(Matrix::Identity(num_items(), num_items())); }

ItemFilter filter_of_factor(Shared<Matrix> factor) {
  ItemFilter filter;
  filter.values = squared_column_norms(*factor).transpose();
  filter.factor = std::move(factor);
  return filter;
}

ItemFilter filter_of_factor(Matrix factor) {
  return filter_of_factor(std::make_shared<const Matrix>(std::move(factor)));
}

ItemFactor best_factor(const ItemFilter& filter, ConstMatrixRef start, Index passes) {
  const Index dim = start.cols();
  const Index rank = filter.factor->cols();
  if (!filter.has_blocks()) {
    const Index common = std::min(dim, (filter.values.array() > 0.0).count());
    return {.tall = filter.factor, .small = Square::Identity(rank, common)};
  }
  if (rank < dim) return best_beyond_factor(filter, start, passes);
  // The first application is cheap: the factor consists of eigenvectors of its own product.
  const auto leading = filter.factor->leftCols(dim);
  Matrix Y = filter.apply_blocks(leading);
  const Eigen::RowVectorX<Real> values = filter.values.head(dim).transpose().cast<Real>();
  // The columns are as long as eigenvalues to the power of 3/2, and what follows takes their fourth
  // power in floats. A power of two makes them short and changes no bit of the result.
  const int exponent = static_cast<int>(1.5 * std::log2(std::max(1.0, filter.values.sum())));
  const Real scale = std::ldexp(1.0F, -exponent);
  for (Index row = 0; row < Y.rows(); ++row) {
    Y.row(row) = scale * (Y.row(row) + leading.row(row).cwiseProduct(values));
  }
  for (Index pass = 1; pass < passes; ++pass) Y = filter.apply(orthonormalize(std::move(Y)));
  return best_in_span(filter, std::move(Y), dim);
}

double distance(ConstMatrixRef factor, const ItemFilter& filter) {
  // ||G||^2 - 2 <E, S E> + ||S||^2: a difference of large numbers, so in double and never below 0.
  const Square gram = factor.cast<double>().transpose() * factor.cast<double>();
  const Matrix product = filter.apply(factor);
  const double mixed = factor.cast<double>().cwiseProduct(product.cast<double>()).sum();
  return std::sqrt(std::max(0.0, gram.squaredNorm() - 2.0 * mixed + filter.squared_norm()));
}
}  // namespace fedhur::linalg
