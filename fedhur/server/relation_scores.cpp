#include "fedhur/server/relation_scores.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fedhur/base/error.hpp"
#include "fedhur/linalg/principal.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::server {
namespace {
constexpr Real kRootTwo = std::numbers::sqrt2_v<Real>;
constexpr Index kRowsAtOnce = 192;  // of query directions: what stays in the cache

void pack_scaled(const Matrix& symmetric, Real* packed) {
  for (Index row = 0; row < symmetric.rows(); ++row) {
    *packed++ = symmetric(row, row);
    for (Index col = row + 1; col < symmetric.cols(); ++col) {
      *packed++ = kRootTwo * symmetric(row, col);
    }
  }
}

// q q^T of every column q of the query, packed.
void pack_directions(const Matrix& query, Real* packed) {
  const Matrix directions = query.transpose();
  for (Index c = 0; c < directions.rows(); ++c) {
    const Real* q = directions.row(c).data();
    for (Index row = 0; row < directions.cols(); ++row) {
      *packed++ = q[row] * q[row];
      const Real scaled = kRootTwo * q[row];
      for (Index col = row + 1; col < directions.cols(); ++col) *packed++ = scaled * q[col];
    }
  }
}

// Squares of all strengths for the targets from `first` on: a row per direction, a column per
// candidate.
Matrix squares_by_grams(const std::vector<Matrix>& queries, std::size_t first, std::size_t count,
                        const Matrix& grams) {
  const Index directions = queries[0].cols();
  Matrix packed(static_cast<Index>(count) * directions, grams.cols());
  for (std::size_t i = 0; i < count; ++i) {
    pack_directions(queries[first + i], packed.row(static_cast<Index>(i) * directions).data());
  }
  return packed * grams.transpose();
}

Matrix squares_directly(const std::vector<Matrix>& queries, std::size_t first, std::size_t count,
                        const std::vector<Matrix>& group_embeddings) {
  const Index directions = queries[0].cols();
  Matrix rows(static_cast<Index>(count) * directions, queries[0].rows());
  for (std::size_t i = 0; i < count; ++i) {
    rows.middleRows(static_cast<Index>(i) * directions, directions) =
        queries[first + i].transpose();
  }
  Matrix squares(rows.rows(), static_cast<Index>(group_embeddings.size()));
  for (std::size_t j = 0; j < group_embeddings.size(); ++j) {
    const Matrix product = rows * group_embeddings[j];
    squares.col(static_cast<Index>(j)) = product.rowwise().squaredNorm();
  }
  return squares;
}

// Only the sums over directions, at a t-th of the cost: <Q_k Q_k^T, Z_j Z_j^T>.
MatrixOf<double> total_scores(const std::vector<Matrix>& queries, const Matrix& grams) {
  const Matrix packed = pack_grams(queries);
  return (packed * grams.transpose()).cast<double>();
}

double frobenius(const Matrix& matrix) { return matrix.cast<double>().norm(); }
}  // namespace

Matrix pack_grams(const std::vector<Matrix>& group_embeddings) {
  const Index size = group_embeddings[0].rows();
  Matrix grams(static_cast<Index>(group_embeddings.size()), linalg::packed_size(size));
  Matrix gram(size, size);
  for (std::size_t j = 0; j < group_embeddings.size(); ++j) {
    gram.noalias() = group_embeddings[j] * group_embeddings[j].transpose();
    pack_scaled(gram, grams.row(static_cast<Index>(j)).data());
  }
  return grams;
}

DirectScores score_candidates(const std::vector<Matrix>& queries,
                              const std::vector<Matrix>& group_embeddings, const Matrix& grams,
                              bool wants_strengths) {
  const std::size_t num_targets = queries.size();
  const auto K = static_cast<Index>(group_embeddings.size());
  const Index directions = queries[0].cols();
  const bool is_packed = grams.size() > 0;
  DirectScores result;
  if (!wants_strengths && is_packed) {
    result.scores = total_scores(queries, grams).cwiseMax(0.0);
    return result;
  }
  const bool by_grams =
      is_packed && grams.cols() <= group_embeddings[0].rows() * group_embeddings[0].cols();
  result.scores.resize(static_cast<Index>(num_targets), K);
  if (wants_strengths) result.strengths.resize(result.scores.size(), directions);
  const std::size_t at_once =
      static_cast<std::size_t>(std::max<Index>(1, kRowsAtOnce / directions));
  for (std::size_t first = 0; first < num_targets; first += at_once) {
    const std::size_t count = std::min(at_once, num_targets - first);
    Matrix squares = by_grams ? squares_by_grams(queries, first, count, grams)
                              : squares_directly(queries, first, count, group_embeddings);
    squares = squares.cwiseMax(0.0F);
    for (std::size_t i = 0; i < count; ++i) {
      const auto own = squares.middleRows(static_cast<Index>(i) * directions, directions);
      const auto target = static_cast<Index>(first + i);
      result.scores.row(target) = own.cast<double>().colwise().sum();
      if (!wants_strengths) continue;
      result.strengths.middleRows(target * K, K) = own.transpose().cwiseSqrt();
    }
  }
  return result;
}

void divide_by_energy(DirectScores& direct, const std::vector<Matrix>& group_embeddings) {
  const auto K = static_cast<Index>(group_embeddings.size());
  Eigen::RowVectorXd shares(K);
  for (Index j = 0; j < K; ++j) {
    const double norm = frobenius(group_embeddings[static_cast<std::size_t>(j)]);
    shares(j) = norm > 0.0 ? 1.0 / norm : 0.0;
  }
  for (Index k = 0; k < direct.scores.rows(); ++k) {
    direct.scores.row(k) = direct.scores.row(k).cwiseProduct(shares.cwiseAbs2());
  }
  for (Index pair = 0; pair < direct.strengths.rows(); ++pair) {
    direct.strengths.row(pair) *= static_cast<Real>(shares(pair % K));
  }
}

Eigen::VectorXd candidate_scales(const std::vector<Matrix>& group_embeddings) {
  Eigen::VectorXd scales(static_cast<Index>(group_embeddings.size()));
  for (std::size_t j = 0; j < group_embeddings.size(); ++j) {
    scales(static_cast<Index>(j)) =
        frobenius(group_embeddings[j]) /
        std::sqrt(static_cast<double>(std::max<Index>(1, group_embeddings[j].size())));
  }
  return scales;
}

MatrixOf<double> score_similarity(const std::vector<Matrix>& group_embeddings) {
  const auto K = static_cast<Index>(group_embeddings.size());
  MatrixOf<double> scores(K, K);
  Eigen::VectorXd norms(K);
  for (Index k = 0; k < K; ++k) {
    norms(k) = frobenius(group_embeddings[static_cast<std::size_t>(k)]);
    for (Index j = 0; j <= k; ++j) {
      const auto& a = group_embeddings[static_cast<std::size_t>(k)];
      const auto& b = group_embeddings[static_cast<std::size_t>(j)];
      const double product = a.cast<double>().cwiseProduct(b.cast<double>()).sum();
      const double scale = norms(k) * norms(j);
      scores(k, j) = scores(j, k) = scale > 0.0 ? product / scale : 0.0;
    }
  }
  return scores;
}

MatrixOf<double> score_complementarity(const std::vector<Matrix>& group_embeddings,
                                       Index num_directions) {
  const auto K = static_cast<Index>(group_embeddings.size());
  const Index size = group_embeddings[0].rows();
  const Index kappa = std::min({num_directions, size - 1, group_embeddings[0].cols()});
  if (kappa < 1) return MatrixOf<double>::Zero(K, K);  // a single group spans no directions
  std::vector<MatrixOf<double>> bases;                 // d x kappa
  for (const Matrix& Z : group_embeddings) {
    bases.push_back(linalg::principal_directions(Z, kappa));
  }
  MatrixOf<double> scores(K, K);
  for (Index k = 0; k < K; ++k) {
    scores(k, k) = 0.0;
    for (Index j = 0; j < k; ++j) {
      const double angle = linalg::mean_principal_angle(
          bases[static_cast<std::size_t>(k)].transpose() * bases[static_cast<std::size_t>(j)]);
      // Equal spaces differ by rounding, which must not become a relation when it is standardised.
      constexpr double kRounding = 1e-12;
      const double score = 1.0 - std::abs(std::cos(angle));
      scores(k, j) = scores(j, k) = score > kRounding ? score : 0.0;
    }
  }
  return scores;
}
}  // namespace fedhur::server
