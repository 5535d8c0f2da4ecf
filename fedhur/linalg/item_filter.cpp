#include "fedhur/linalg/item_filter.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/error.hpp"
#include "fedhur/linalg/orthogonal.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::linalg {
namespace {
using Square = MatrixOf<double>;

// Where the members of each scope stand among the members of all scopes.
std::vector<Index> first_rows(const ItemHierarchy& hierarchy) {
  std::vector<Index> first = {0};
  for (const Scope& scope : hierarchy.scopes) first.push_back(first.back() + scope.num_members());
  return first;
}

// Row b of a scope: the sum of the rows of the items of its member b. From the finest level up, so
// that every item is added once.
Matrix sum_members(ConstMatrixRef rows, const ItemHierarchy& hierarchy,
                   const std::vector<Index>& first) {
  Matrix sums = Matrix::Zero(first.back(), rows.cols());
  const Index last_level = hierarchy.num_levels() - 1;
  for (Index s = hierarchy.num_scopes() - 1; s >= 0; --s) {
    const Scope& scope = hierarchy.scopes[static_cast<std::size_t>(s)];
    auto own = sums.middleRows(first[static_cast<std::size_t>(s)], scope.num_members());
    if (scope.level == last_level) {
      for (Index b = 0; b < scope.num_members(); ++b) {
        for (const Index item : scope.member_items(b)) own.row(b) += rows.row(item);
      }
    }
    if (scope.parent >= 0) {
      sums.row(first[static_cast<std::size_t>(scope.parent)] + scope.member) = own.colwise().sum();
    }
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

// Q^T filter Q for orthonormal columns Q.
Square project(const ItemFilter& filter, const Matrix& Q) {
  const Matrix coordinates = filter.basis->transpose() * Q;
  Square core = coordinates.transpose().cast<double>() *
                (filter.values.asDiagonal() * coordinates.cast<double>());
  core += (Q.transpose() * filter.apply_blocks(Q)).cast<double>();
  return 0.5 * (core + core.transpose());
}

// Q W Theta^(1/2) over the positive eigenvalues of the core W Theta W^T.
Matrix positive_factor(const Matrix& Q, const Square& core) {
  const EigenPairs pairs = eigen_pairs(core);
  const Square transform = pairs.vectors * pairs.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
  return Q * transform.cast<Real>();
}
}  // namespace

Matrix ItemFilter::apply_blocks(ConstMatrixRef columns) const {
  Matrix result = Matrix::Zero(columns.rows(), columns.cols());
  if (!has_blocks()) return result;
  const std::vector<Index> first = first_rows(*hierarchy);
  const Matrix sums = sum_members(columns, *hierarchy, first);
  Matrix products(first.back(), columns.cols());
  const Index last_level = hierarchy->num_levels() - 1;
  for (Index s = 0; s < hierarchy->num_scopes(); ++s) {
    const Scope& scope = hierarchy->scopes[static_cast<std::size_t>(s)];
    const Index row = first[static_cast<std::size_t>(s)];
    auto own = products.middleRows(row, scope.num_members());
    own.noalias() = blocks[static_cast<std::size_t>(s)] * sums.middleRows(row, scope.num_members());
    if (scope.parent >= 0) {
      own.rowwise() += products.row(first[static_cast<std::size_t>(scope.parent)] + scope.member);
    }
    if (scope.level != last_level) continue;
    for (Index b = 0; b < scope.num_members(); ++b) {
      for (const Index item : scope.member_items(b)) result.row(item) = own.row(b);
    }
  }
  return result;
}

Matrix ItemFilter::apply(ConstMatrixRef columns) const {
  Matrix result = apply_blocks(columns);
  const Matrix coordinates =
      values.cast<Real>().asDiagonal() * Matrix(basis->transpose() * columns);
  result.noalias() += *basis * coordinates;
  return result;
}

double ItemFilter::squared_norm() const {
  double sum = values.squaredNorm();
  if (!has_blocks()) return sum;
  const Matrix product = apply_blocks(*basis);
  for (Index i = 0; i < values.size(); ++i) {
    sum += 2.0 * values(i) * basis->col(i).cast<double>().dot(product.col(i).cast<double>());
  }
  return sum + squared_norm_of_blocks(*this);
}

Matrix ItemFilter::to_dense() const { return apply(Matrix::Identity(num_items(), num_items())); }

ItemFilter filter_of_factor(ConstMatrixRef factor) {
  ItemFilter filter;
  Matrix basis = factor;
  filter.values = factor.cast<double>().colwise().squaredNorm().transpose();
  for (Index i = 0; i < basis.cols(); ++i) {
    if (filter.values(i) > 0.0) basis.col(i) /= static_cast<Real>(std::sqrt(filter.values(i)));
  }
  filter.basis = std::make_shared<const Matrix>(std::move(basis));
  return filter;
}

Matrix best_factor(const ItemFilter& filter, ConstMatrixRef start, Index passes) {
  const Index dim = start.cols();
  const Index rank = filter.basis->cols();
  const Index common = std::min(dim, rank);
  const auto leading = filter.basis->leftCols(common);
  if (!filter.has_blocks()) {
    Matrix factor = Matrix::Zero(filter.num_items(), dim);
    factor.leftCols(common) =
        leading * filter.values.head(common).cwiseSqrt().cast<Real>().asDiagonal();
    return factor;
  }
  Matrix Q;
  if (rank >= dim) {
    // The first application is cheap: the basis consists of eigenvectors of the low-rank part.
    Q = leading * filter.values.head(dim).cast<Real>().asDiagonal();
    Q += filter.apply_blocks(leading);
  } else {
    Q.resize(filter.num_items(), dim);
    Q.leftCols(rank) = leading;
    Q.rightCols(dim - rank) = start.leftCols(dim - rank);
    Q = filter.apply(orthonormalize(std::move(Q)));
  }
  Q = orthonormalize(std::move(Q));
  for (Index pass = 1; pass < passes; ++pass) Q = orthonormalize(filter.apply(Q));
  return positive_factor(Q, project(filter, Q));
}

double distance(ConstMatrixRef factor, const ItemFilter& filter) {
  // ||G||^2 - 2 <E, S E> + ||S||^2: a difference of large numbers, so in double and never below 0.
  const Square gram = factor.cast<double>().transpose() * factor.cast<double>();
  const Matrix product = filter.apply(factor);
  const double mixed = factor.cast<double>().cwiseProduct(product.cast<double>()).sum();
  return std::sqrt(std::max(0.0, gram.squaredNorm() - 2.0 * mixed + filter.squared_norm()));
}
}  // namespace fedhur::linalg
