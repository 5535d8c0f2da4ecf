#include "fedhur/server/global_information.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/error.hpp"
#include "fedhur/base/random_matrix.hpp"
#include "fedhur/base/settings.hpp"
#include "fedhur/linalg/kernels.hpp"
#include "fedhur/linalg/orthogonal.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::server {
namespace {
constexpr Index kRowsPerTask = 128;

Index num_tasks(Index num_rows) { return (num_rows + kRowsPerTask - 1) / kRowsPerTask; }

// S_g Q = 1/K sum_k E_k (E_k^T Q), the sum in client order whatever the number of threads.
Matrix apply_global_filter(const Uploads& uploads, const Matrix& Q, const Executor& executor) {
  const auto num_clients = static_cast<Index>(uploads.size());
  std::vector<Matrix> coordinates(uploads.size());
  executor.for_each(num_clients, [&](Index client) {
    const auto k = static_cast<std::size_t>(client);
    coordinates[k].noalias() = uploads[k]->transpose() * Q;
  });
  Matrix result(Q.rows(), Q.cols());
  executor.for_each(num_tasks(Q.rows()), [&](Index task) {
    const Index first = task * kRowsPerTask;
    const Index count = std::min(kRowsPerTask, Q.rows() - first);
    Matrix sum = Matrix::Zero(count, Q.cols());
    for (std::size_t k = 0; k < uploads.size(); ++k) {
      sum.noalias() += uploads[k]->middleRows(first, count) * coordinates[k];
    }
    result.middleRows(first, count) = sum / static_cast<Real>(num_clients);
  });
  return result;
}

// Directions that the last round did not have begin at random: a column of zeros would stay zero
// for ever.
void fill_zero_columns(Matrix& Q, const Rng& rng) {
  Matrix drawn;
  for (Index i = 0; i < Q.cols(); ++i) {
    if (!Q.col(i).isZero(0.0F)) continue;
    if (drawn.size() == 0) drawn = normal_matrix(Q.rows(), Q.cols(), 1.0F, rng);
    Q.col(i) = drawn.col(i);
  }
}

// The eigenpairs of Y (Q^T Y)^+ Y^T for Y = S Q: exact where Q spans the range of S, and else the
// approximation from below that has half a pass of subspace iteration more than Rayleigh-Ritz.
GlobalFilter eigen_pairs_from_sketch(const Matrix& Q, const Matrix& Y) {
  const Index rank = Q.cols();
  MatrixOf<double> core = (Q.transpose() * Y).cast<double>();
  core = 0.5 * (core + core.transpose()).eval();
  const linalg::EigenPairs inner = linalg::eigen_pairs(core);
  MatrixOf<double> transform = MatrixOf<double>::Zero(rank, rank);
  constexpr double kLeastShare = 1e-6;  // below, a float product holds nothing but rounding
  for (Index i = 0; i < rank; ++i) {
    if (inner.values(i) <= kLeastShare * inner.values(0)) break;
    transform.col(i) = inner.vectors.col(i) / std::sqrt(inner.values(i));
  }
  const Matrix factor = Y * transform.cast<Real>();
  const linalg::EigenPairs outer =
      linalg::eigen_pairs((factor.transpose() * factor).cast<double>());
  GlobalFilter filter;
  filter.values = outer.values.cwiseMax(0.0);
  MatrixOf<double> rotation = outer.vectors;
  for (Index i = 0; i < rank; ++i) {
    const bool is_noise = filter.values(i) <= kLeastShare * filter.values(0);
    if (is_noise) filter.values(i) = 0.0;
    rotation.col(i) *= is_noise ? 0.0 : 1.0 / std::sqrt(filter.values(i));
  }
  filter.basis.noalias() = factor * rotation.cast<Real>();
  return filter;
}

// tr S_g
double global_trace(const Uploads& uploads, const Executor& executor) {
  return executor.sum(static_cast<Index>(uploads.size()), [&](Index client) {
    return uploads[static_cast<std::size_t>(client)]->cast<double>().squaredNorm();
  }) / static_cast<double>(uploads.size());
}
}  // namespace

GlobalFilter positive_ritz_pairs(const Matrix& Q, const Matrix& product, Index rank) {
  MatrixOf<double> core = (Q.transpose() * product).cast<double>();
  core = 0.5 * (core + core.transpose()).eval();
  const linalg::EigenPairs pairs = linalg::eigen_pairs(core);
  constexpr double kLeastShare = 1e-6;  // below, a float product holds nothing but rounding
  const double least = kLeastShare * std::max(0.0, pairs.values(0));
  const Index count = std::min<Index>(rank, (pairs.values.array() > least).count());
  GlobalFilter filter;
  filter.values = Eigen::VectorXd::Zero(rank);
  filter.values.head(count) = pairs.values.head(count);
  filter.basis = Matrix::Zero(Q.rows(), rank);
  filter.basis.leftCols(count).noalias() = Q * pairs.vectors.leftCols(count).cast<Real>();
  return filter;
}

void declare_settings(Settings& settings, GlobalFilterConfig& config) {
  settings.add(
      "global_filter.rank", config.rank, between(0, 16384),
      "eigenpairs of S_g that are kept; 0: as many as embeddings are wide. Download n r numbers",
      "r");
  settings.add("global_filter.passes", config.passes, at_least(1),
               "subspace iterations a round, each 2 n d r multiplications per client");
  settings.add("global_filter.first_passes", config.first_passes, at_least(1),
               "the same in the first round, which starts from nothing");
}

Matrix GlobalFilter::factor() const { return basis * values.cwiseSqrt().cast<Real>().asDiagonal(); }

Matrix average_embeddings(const Uploads& uploads, const std::vector<double>& weights,
                          const Executor& executor) {
  expects(!uploads.empty(), "at least one client has uploaded");
  expects(uploads.size() == weights.size(), "a weight per upload");
  const Index num_items = uploads[0]->rows();
  const Index embedding_dim = uploads[0]->cols();
  Matrix average(num_items, embedding_dim);
  constexpr Index kRowsPerSum = 16;  // few enough for the sums to stay in the nearest cache
  executor.for_each((num_items + kRowsPerSum - 1) / kRowsPerSum, [&](Index task) {
    const Index first = task * kRowsPerSum;
    const Index count = std::min(kRowsPerSum, num_items - first);
    MatrixOf<double> sum = MatrixOf<double>::Zero(count, embedding_dim);
    for (std::size_t k = 0; k < uploads.size(); ++k) {
      linalg::add_scaled(sum.data(), uploads[k]->row(first).data(), weights[k], sum.size());
    }
    average.middleRows(first, count) = sum.cast<Real>();
  });
  return average;
}

Matrix average_embeddings(const Uploads& uploads, const Executor& executor) {
  const double weight = 1.0 / static_cast<double>(uploads.size());
  return average_embeddings(uploads, std::vector<double>(uploads.size(), weight), executor);
}

GlobalFilter compute_global_filter(const Uploads& uploads, const GlobalFilterConfig& config,
                                   const Matrix& start, Rng rng, const Executor& executor) {
  expects(!uploads.empty(), "at least one client has uploaded");
  const Index num_items = uploads[0]->rows();
  const Index embedding_dim = uploads[0]->cols();
  const Index rank = std::min(num_items, config.rank > 0 ? config.rank : embedding_dim);
  const bool is_first = start.size() == 0;
  Matrix Q = is_first ? normal_matrix(num_items, rank, 1.0F, rng) : start;
  expects(Q.rows() == num_items && Q.cols() == rank, "the start has the shape of the basis");
  if (!is_first) fill_zero_columns(Q, rng);
  Q = linalg::orthonormalize(std::move(Q));
  for (Index pass = 1; pass < (is_first ? config.first_passes : config.passes); ++pass) {
    Q = linalg::orthonormalize(apply_global_filter(uploads, Q, executor));
  }
  const Matrix Y = apply_global_filter(uploads, Q, executor);
  GlobalFilter filter = eigen_pairs_from_sketch(Q, Y);
  const double trace = global_trace(uploads, executor);
  filter.trace_kept = trace > 0.0 ? filter.values.sum() / trace : 1.0;
  return filter;
}

GlobalFilter step_global_filter(const Uploads& uploads, const GlobalFilterConfig& config,
                                const Matrix& T, Real rate, const Executor& executor) {
  expects(!uploads.empty(), "at least one client has uploaded");
  const Index num_items = T.rows();
  const Index rank = std::min(num_items, config.rank > 0 ? config.rank : uploads[0]->cols());
  const auto apply = [&](const Matrix& Q) {
    Matrix product = rate * apply_global_filter(uploads, Q, executor);
    const Matrix coordinates = T.transpose() * Q;
    product.noalias() += T * ((1 - rate) * coordinates);
    return product;
  };
  Matrix Q = linalg::orthonormalize(T);
  for (Index pass = 1; pass < config.passes - 1; ++pass) Q = linalg::orthonormalize(apply(Q));
  Matrix both(num_items, 2 * Q.cols());
  both << Q, apply(Q);
  // More columns than rows span no more than all there is.
  Q = both.cols() > num_items ? Matrix(Matrix::Identity(num_items, num_items))
                              : linalg::orthonormalize(std::move(both));
  GlobalFilter filter = positive_ritz_pairs(Q, apply(Q), rank);
  const double trace = static_cast<double>(rate) * global_trace(uploads, executor) +
                       (1.0 - static_cast<double>(rate)) * T.cast<double>().squaredNorm();
  filter.trace_kept = trace > 0.0 ? filter.values.sum() / trace : 1.0;
  return filter;
}
}  // namespace fedhur::server
