#include "fedhur/server/composite_weights.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/error.hpp"
#include "fedhur/linalg/normalize.hpp"
#include "fedhur/linalg/principal.hpp"

namespace fedhur::server {
namespace {
Index count_of(const Uploads& uploads) { return static_cast<Index>(uploads.size()); }

// The length of the shortest basis that has directions at all.
Index common_directions(const Uploads& bases) {
  Index kappa = 0;
  for (const Shared<Matrix>& basis : bases) {
    if (basis->rows() > 0) kappa = kappa == 0 ? basis->rows() : std::min(kappa, basis->rows());
  }
  return kappa;
}
}  // namespace

MatrixOf<double> score_table_similarity(const Uploads& uploads, const Executor& executor) {
  const Index K = count_of(uploads);
  MatrixOf<double> components(K, uploads[0]->rows());  // a_k
  executor.for_each(K, [&](Index k) {
    const Matrix& table = *uploads[static_cast<std::size_t>(k)];
    components.row(k) =
        (linalg::centre_rows(table) * linalg::principal_directions(table, 1)).transpose();
  });
  const MatrixOf<double> products = components * components.transpose();
  const Eigen::VectorXd squares = products.diagonal();
  MatrixOf<double> similarity(K, K);
  for (Index k = 0; k < K; ++k) {
    for (Index j = 0; j < K; ++j) {
      // The smaller of |a_k - a_j| and |a_k + a_j|: the sign of a component is arbitrary.
      const double square = squares(k) + squares(j) - 2.0 * std::abs(products(k, j));
      const double score = 1.0 / (1.0 + std::sqrt(std::max(0.0, square)));
      constexpr double kAsGoodAsEqual = 0.9;
      similarity(k, j) = k == j || score > kAsGoodAsEqual ? 1.0 : score;
    }
  }
  return similarity;
}

MatrixOf<double> score_closeness(const Uploads& bases, const Executor& executor) {
  const Index K = count_of(bases);
  MatrixOf<double> closeness = MatrixOf<double>::Ones(K, K);
  const Index kappa = common_directions(bases);
  if (kappa == 0) return closeness;
  // What arrives was rounded to floats or less. Angles near zero would show that, so that the bases
  // are made orthonormal again.
  MatrixOf<double> stacked = MatrixOf<double>::Zero(K * kappa, bases[0]->cols());
  executor.for_each(K, [&](Index k) {
    const Matrix& basis = *bases[static_cast<std::size_t>(k)];
    if (basis.rows() == 0) return;
    const MatrixOf<double> exact = linalg::exact_basis(basis.topRows(kappa).transpose());
    expects(exact.cols() == kappa, "directions of a basis are independent");
    stacked.middleRows(k * kappa, kappa) = exact.transpose();
  });
  const MatrixOf<double> overlaps = stacked * stacked.transpose();
  executor.for_each(K, [&](Index k) {
    for (Index j = 0; j < K; ++j) {
      if (j == k || bases[static_cast<std::size_t>(k)]->rows() == 0 ||
          bases[static_cast<std::size_t>(j)]->rows() == 0) {
        continue;
      }
      // Always the one half of the overlaps: both directions of a pair get the same bits.
      const Index row = std::min(k, j) * kappa;
      const Index col = std::max(k, j) * kappa;
      closeness(k, j) =
          std::cos(linalg::mean_principal_angle(overlaps.block(row, col, kappa, kappa)));
    }
  });
  return closeness;
}

MatrixOf<double> weigh_composite(const Eigen::VectorXd& data_sizes,
                                 const MatrixOf<double>& similarity,
                                 const MatrixOf<double>& closeness, const CompositeConfig& config) {
  const double total = data_sizes.sum();
  const Eigen::RowVectorXd prior =
      total > 0.0 ? Eigen::RowVectorXd(data_sizes.transpose() / total)
                  : Eigen::RowVectorXd(Eigen::RowVectorXd::Zero(data_sizes.size()));
  const double beta = static_cast<double>(config.similarity_weight);
  const double chi = config.favoured == Favoured::alike ? 1.0 : -1.0;
  const double alpha = static_cast<double>(config.closeness_weight);
  MatrixOf<double> weights = beta * similarity + chi * alpha * closeness;
  weights.rowwise() += prior;  // v
  for (Index k = 0; k < weights.rows(); ++k) {
    Eigen::VectorXd own = linalg::project_on_simplex(weights.row(k).transpose());
    constexpr double kLeast = 1e-20;
    own = (own.array() < kLeast).select(0.0, own);
    weights.row(k) = own.transpose() / own.sum();
  }
  return weights;
}

std::vector<Matrix> mix_tables(const Uploads& uploads, const MatrixOf<double>& weights,
                               const Executor& executor) {
  const Index K = count_of(uploads);
  const Index num_rows = uploads[0]->rows();
  const Index num_cols = uploads[0]->cols();
  std::vector<Matrix> mixtures(uploads.size(), Matrix(num_rows, num_cols));
  constexpr Index kRowsPerTask = 64;  // of all tables side by side: what stays in the cache
  executor.for_each((num_rows + kRowsPerTask - 1) / kRowsPerTask, [&](Index task) {
    const Index first = task * kRowsPerTask;
    const Index count = std::min(kRowsPerTask, num_rows - first) * num_cols;
    using Flat = Eigen::Map<const Eigen::Matrix<Real, 1, Eigen::Dynamic>>;
    MatrixOf<double> stacked(K, count);
    for (Index j = 0; j < K; ++j) {
      const Matrix& table = *uploads[static_cast<std::size_t>(j)];
      stacked.row(j) = Flat(table.row(first).data(), count).cast<double>();
    }
    const Matrix mixed = (weights * stacked).cast<Real>();
    for (Index k = 0; k < K; ++k) {
      Real* rows = mixtures[static_cast<std::size_t>(k)].row(first).data();
      std::copy_n(mixed.row(k).data(), count, rows);
    }
  });
  return mixtures;
}
}  // namespace fedhur::server
