#include "fedhur/client/utility_query.hpp"

#include "fedhur/linalg/normalize.hpp"

namespace fedhur::client {
void read_settings(ConfigTable& table, QueryConfig& config) {
  ConfigSection section(table, "query");
  section.read("form", config.form);
  section.read("directions", config.directions);
  section.require(config.directions >= 1 && config.directions <= 4096, "directions",
                  "a number from 1 to 4096");
  std::string scale = config.is_spectral ? "spectral" : "none";
  section.read("filter_scale", scale);
  section.require(scale == "spectral" || scale == "none", "filter_scale", "spectral or none");
  config.is_spectral = scale == "spectral";
}

Matrix draw_projection(const Rng& rng, Index scope, Index num_members, Index directions) {
  Rng own = rng.stream(Draw::projection, scope);
  Matrix projection(num_members, directions);
  Real* entries = projection.data();
  for (Index i = 0; i < projection.size(); i += 2) {
    const auto [first, second] = own.normal_pair();
    entries[i] = static_cast<Real>(first);
    if (i + 1 < projection.size()) entries[i + 1] = static_cast<Real>(second);
  }
  return projection;
}

Matrix project_query(ConstMatrixRef group_embeddings, const linalg::RelationFilter& global_filter,
                     double spectral_norm, ConstMatrixRef projection, const QueryConfig& config) {
  const auto& Z = group_embeddings;
  const auto& P = projection;
  const auto apply_local = [&](ConstMatrixRef columns) {  // H X
    const Matrix coordinates = Z.transpose() * columns;
    return Matrix(Z * coordinates);
  };
  const Real scale = !config.is_spectral   ? 1.0F
                     : spectral_norm > 0.0 ? static_cast<Real>(1.0 / spectral_norm)
                                           : 0.0F;
  const auto apply_global = [&](ConstMatrixRef columns) {  // F X
    return Matrix(scale * global_filter.apply(columns));
  };
  Matrix Q = apply_local(P);
  const Eigen::RowVectorXd local_norms = Q.cast<double>().colwise().norm();
  switch (config.form) {  // Eq. (utility_query) and its ablations
    case QueryForm::utility:
      Q = Matrix(Q - 0.5F * (apply_local(apply_global(P)) + apply_global(Q)));
      break;
    case QueryForm::local:
      break;
    case QueryForm::right:
      Q -= apply_local(apply_global(P));
      break;
    case QueryForm::left:
      Q = Matrix(Q - apply_global(Q));
      break;
  }
  // What rounding alone leaves of a direction is no query, and must not get unit length: with one
  // member F is 1 and nothing is left.
  constexpr double kRounding = 1e-6;
  for (Index c = 0; c < Q.cols(); ++c) {
    if (Q.col(c).cast<double>().norm() <= kRounding * local_norms(c)) Q.col(c).setZero();
  }
  linalg::normalize_columns(Q);  // Eq. (projected_query)
  return Q;
}
}  // namespace fedhur::client
