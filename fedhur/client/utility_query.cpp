#include "fedhur/client/utility_query.hpp"

#include "fedhur/base/settings.hpp"
#include "fedhur/linalg/normalize.hpp"

namespace fedhur::client {
void declare_settings(Settings& settings, QueryConfig& config) {
  settings.add(
      "query.form", config.form,
      "what is asked for: `utility` H - (HF + FH)/2, `local` H, `right` H - HF, `left` H - FH");
  settings.add(
      "query.directions", config.directions, between(1, 4096),
      "random directions that a query is projected on; upload t numbers per group and item", "t");
  std::string scale = config.is_spectral ? "spectral" : "none";
  settings.add_word("query.filter_scale", scale, {"spectral", "none"},
                    "F = F_g / lambda_max, or F_g itself (`none`)");
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
  // Eq. (utility_query) and its ablations. H P and H F P come from one product.
  const Index t = P.cols();
  const bool is_right = config.form == QueryForm::utility || config.form == QueryForm::right;
  const bool is_left = config.form == QueryForm::utility || config.form == QueryForm::left;
  Matrix stacked(P.rows(), is_right ? 2 * t : t);
  stacked.leftCols(t) = P;
  if (is_right) stacked.rightCols(t) = apply_global(P);
  stacked = apply_local(stacked);
  const Matrix local = stacked.leftCols(t);
  const Real share = config.form == QueryForm::utility ? 0.5F : 1.0F;
  Matrix Q = local;
  if (is_right) Q -= share * stacked.rightCols(t);
  if (is_left) Q -= share * apply_global(local);
  // What rounding alone leaves of a direction is no query, and must not get unit length: with one
  // member F is 1 and nothing is left.
  constexpr double kRounding = 1e-6;
  const Eigen::RowVectorXd before = linalg::squared_column_norms(local);
  const Eigen::RowVectorXd after = linalg::squared_column_norms(Q);
  for (Index c = 0; c < t; ++c) {
    if (after(c) <= kRounding * kRounding * before(c)) Q.col(c).setZero();
  }
  linalg::normalize_columns(Q);  // Eq. (projected_query)
  return Q;
}
}  // namespace fedhur::client
