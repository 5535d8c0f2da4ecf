#include "fedhur/server/global_information.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fedhur/base/error.hpp"
#include "fedhur/base/fixed_point_sum.hpp"
#include "fedhur/base/random_matrix.hpp"
#include "fedhur/base/settings.hpp"
#include "fedhur/linalg/orthogonal.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::server {
namespace {
// S_g = 1/K sum_k E_k E_k^T, which is never formed.
class MeanFilter {
 public:
  MeanFilter(const Uploads& uploads, const Executor& executor)
      : uploads_(&uploads), executor_(&executor) {
    expects(!uploads.empty(), "at least one client has uploaded");
    std::vector<double> squares(uploads.size());
    executor.for_each(num_clients(), [&](Index client) {
      const auto k = static_cast<std::size_t>(client);
      squares[k] = uploads[k]->cast<double>().squaredNorm();
    });
    largest_square_ = std::ranges::max(squares);
    trace_ =
        std::accumulate(squares.begin(), squares.end(), 0.0) / static_cast<double>(num_clients());
  }
  [[nodiscard]] double trace() const { return trace_; }

  // S_g Q. Columns of Q have at most unit length, so no number of a term exceeds the square of its
  // client's norm.
  [[nodiscard]] Matrix apply(const Matrix& Q) const {
    constexpr double kRounding = 1.01;  // of float products
    FixedPointSum sum(Q.rows(), Q.cols(),
                      kRounding * largest_square_ * static_cast<double>(num_clients()));
    executor_->for_each(num_clients(), [&](Index client) {
      const Matrix& E = *(*uploads_)[static_cast<std::size_t>(client)];
      const Matrix coordinates = E.transpose() * Q;
      sum.add(Matrix(E * coordinates));
    });
    return sum.times(1.0 / static_cast<double>(num_clients()));
  }

 private:
  [[nodiscard]] Index num_clients() const { return std::ssize(*uploads_); }
  const Uploads* uploads_;
  const Executor* executor_;
  double largest_square_ = 0.0;
  double trace_ = 0.0;
};

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

Matrix average_embeddings(const Uploads& uploads, const Executor& executor) {
  expects(!uploads.empty(), "at least one client has uploaded");
  const auto num_clients = std::ssize(uploads);
  std::vector<double> largest(uploads.size());
  const auto for_each_client = [&](const auto& task) {
    executor.for_each(num_clients, [&](Index k) { task(static_cast<std::size_t>(k)); });
  };
  for_each_client([&](std::size_t k) { largest[k] = uploads[k]->cwiseAbs().maxCoeff(); });
  FixedPointSum sum(uploads[0]->rows(), uploads[0]->cols(),
                    std::ranges::max(largest) * static_cast<double>(num_clients));
  for_each_client([&](std::size_t k) { sum.add(*uploads[k]); });
  return sum.times(1.0 / static_cast<double>(num_clients));
}

GlobalFilter compute_global_filter(const Uploads& uploads, const GlobalFilterConfig& config,
                                   const Matrix& start, Rng rng, const Executor& executor) {
  const MeanFilter mean(uploads, executor);
  const Index num_items = uploads[0]->rows();
  const Index embedding_dim = uploads[0]->cols();
  const Index rank = std::min(num_items, config.rank > 0 ? config.rank : embedding_dim);
  const bool is_first = start.size() == 0;
  Matrix Q = is_first ? normal_matrix(num_items, rank, 1.0F, rng) : start;
  expects(Q.rows() == num_items && Q.cols() == rank, "the start has the shape of the basis");
  if (!is_first) fill_zero_columns(Q, rng);
  Q = linalg::orthonormalize(std::move(Q));
  for (Index pass = 1; pass < (is_first ? config.first_passes : config.passes); ++pass) {
    Q = linalg::orthonormalize(mean.apply(Q));
  }
  const Matrix Y = mean.apply(Q);
  GlobalFilter filter = eigen_pairs_from_sketch(Q, Y);
  filter.trace_kept = mean.trace() > 0.0 ? filter.values.sum() / mean.trace() : 1.0;
  return filter;
}

GlobalFilter step_global_filter(const Uploads& uploads, const GlobalFilterConfig& config,
                                const Matrix& T, Real rate, const Executor& executor) {
  const MeanFilter mean(uploads, executor);
  const Index num_items = T.rows();
  const Index rank = std::min(num_items, config.rank > 0 ? config.rank : uploads[0]->cols());
  const auto apply = [&](const Matrix& Q) {
    Matrix product = rate * mean.apply(Q);
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
  const double trace = static_cast<double>(rate) * mean.trace() +
                       (1.0 - static_cast<double>(rate)) * T.cast<double>().squaredNorm();
  filter.trace_kept = trace > 0.0 ? filter.values.sum() / trace : 1.0;
  return filter;
}
}  // namespace fedhur::server
