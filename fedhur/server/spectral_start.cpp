#include "fedhur/server/spectral_start.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/error.hpp"
#include "fedhur/base/random_matrix.hpp"
#include "fedhur/base/settings.hpp"
#include "fedhur/linalg/orthogonal.hpp"
#include "fedhur/server/global_information.hpp"

namespace fedhur::server {
namespace {
// d^power; 0 where d is.
Eigen::VectorXd powers_of(const Eigen::VectorXd& degrees, double power) {
  return degrees.unaryExpr([power](double d) { return d > 0.0 ? std::pow(d, power) : 0.0; });
}

Matrix scale_rows(const Eigen::VectorXd& scales, const Matrix& table) {
  return scales.cast<Real>().asDiagonal() * table;
}
}  // namespace

void declare_settings(Settings& settings, SubspaceConfig& config) {
  settings.add("start.passes", config.passes, at_least(1),
               "of `spectral`: subspace iterations, each an exchange of a table of d + "
               "`start.oversampling` columns");
  settings.add("start.oversampling", config.oversampling, between(0, 4096),
               "of `spectral`: columns beyond the width of the embeddings");
}

Matrix leading_eigenvectors(const Eigen::VectorXd& degrees, Index rank,
                            const SubspaceConfig& config, Rng rng,
                            const CoOccurrenceProduct& multiply) {
  const Index num_items = degrees.size();
  const Eigen::VectorXd scales = powers_of(degrees, -0.5);
  const Index width = std::min(num_items, rank + config.oversampling);
  Matrix Q = linalg::orthonormalize(normal_matrix(num_items, width, 1.0F, rng));
  const auto apply = [&] { return scale_rows(scales, multiply(scale_rows(scales, Q))); };
  for (Index pass = 1; pass < config.passes; ++pass) Q = linalg::orthonormalize(apply());
  Matrix W = positive_ritz_pairs(Q, apply(), rank).basis;
  for (Index item = 0; item < num_items; ++item) {
    if (!(degrees(item) > 0.0)) W.row(item).setZero();
  }
  return W;
}

StartTables make_start(const Matrix& W, const Eigen::VectorXd& degrees) {
  expects(W.rows() == degrees.size(), "a degree per item");
  return {.item_embeddings = scale_rows(powers_of(degrees, 0.5), W),
          .fold_in_weights = powers_of(degrees, -0.5).cast<Real>()};
}

void scale_start(StartTables& start, const StartMeans& means) {
  constexpr double kMargin = 3.0;
  Matrix& E = start.item_embeddings;
  const double item_square = E.cast<double>().squaredNorm() / static_cast<double>(E.rows());
  if (!(item_square > 0.0 && means.square > 0.0)) return;
  // f_E f_P times the margin is 3, and f_E^2 times the squares of items f_P^2 times those of users.
  const double both = means.margin > 0.0 ? kMargin / means.margin : 1.0;
  const double ratio = std::sqrt(means.square / item_square);  // f_E / f_P
  const double item_scale = std::sqrt(both * ratio);
  E *= static_cast<Real>(item_scale);
  start.fold_in_weights *= static_cast<Real>(1.0 / ratio);
}
}  // namespace fedhur::server
