// What a client still needs from the others, in a form small enough to upload.
#pragma once
#include "fedhur/base/config_table.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/linalg/relation_filter.hpp"

namespace fedhur::client {
enum class QueryForm : std::uint8_t {
  utility,  // U = H - (H F + F H) / 2
  local,    // U = H
  right,    // U = H - H F
  left,     // U = H - F H
};
constexpr auto names_of(QueryForm) { return std::array{"utility", "local", "right", "left"}; }

struct QueryConfig {
  QueryForm form = QueryForm::utility;
  Index directions = 16;    // t
  bool is_spectral = true;  // query.filter_scale
};
void declare_settings(Settings& settings, QueryConfig& config);

// P of a scope (m x t): standard normal, from the shared seed and the scope's identity, so that it
// is never sent.
[[nodiscard]] Matrix draw_projection(const Rng& rng, Index scope, Index num_members,
                                     Index directions);

// Eqs. (utility_query) and (projected_query): the columns of U P, each of unit length. H = Z Z^T of
// the group embeddings Z is never formed. A spectral norm of 0 stands for a filter of zeros.
[[nodiscard]] Matrix project_query(ConstMatrixRef group_embeddings,
                                   const linalg::RelationFilter& global_filter,
                                   double spectral_norm, ConstMatrixRef projection,
                                   const QueryConfig& config);
}  // namespace fedhur::client
