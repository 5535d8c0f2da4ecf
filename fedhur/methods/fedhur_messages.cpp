#include "fedhur/methods/fedhur_messages.hpp"

#include <algorithm>

#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::methods {
using linalg::ItemFilter;
using linalg::ItemHierarchy;
using linalg::RelationFilter;
using linalg::Scope;
using message::Message;

Message make_query_request(const FedHurRound& now) {
  Message request{.kind = "query", .round = now.trained.round, .arrays = {}};
  request.arrays.set("global_factor", Array(now.trained.global_factor));
  if (!now.config.has_relations()) return request;
  linalg::HierarchyTable table = linalg::to_table(*now.groups.hierarchy);
  request.arrays.set("hierarchy", std::move(table.members));
  request.arrays.set_number("ends_with_items", table.ends_with_items ? 1 : 0);
  if (now.config.sends_share()) request.arrays.set_number("weight_share", now.weight_share);
  if (!now.config.asks_queries()) return request;
  Index count = 0;
  for (const RelationFilter& filter : now.groups.filters) {
    count += linalg::packed_size(filter.dense.rows());
  }
  Matrix packed(1, count);
  Real* at = packed.data();
  for (const RelationFilter& filter : now.groups.filters) {
    linalg::pack(filter.dense, at);
    at += linalg::packed_size(filter.dense.rows());
  }
  request.arrays.set("group_filters", std::move(packed));
  // Others are divided by them, and there are few: they are worth all their digits on any wire.
  MatrixOf<double> norms(1, std::ssize(now.groups.spectral_norms));
  std::ranges::copy(now.groups.spectral_norms, norms.data());
  request.arrays.set("spectral_norms", std::move(norms));
  return request;
}

Shared<ItemHierarchy> Guidance::build_hierarchy() const {
  return std::make_shared<const ItemHierarchy>(linalg::from_table(*groups, ends_with_items));
}

Guidance read_guidance(const Message& request, const FedHurConfig& config, Index num_items) {
  Guidance guidance{.round = request.round};
  const Index rank = request.arrays.matrix("global_factor").cols();
  guidance.global_filter =
      linalg::filter_of_factor(request.arrays.finite_matrix("global_factor", num_items, rank));
  if (!config.has_relations()) return guidance;
  guidance.groups = request.arrays.shared_integers("hierarchy");
  if (guidance.groups->rows() != num_items) {
    throw ProtocolError("'hierarchy' is not of these items");
  }
  const double ends_with_items = request.arrays.number("ends_with_items");
  if (ends_with_items != 0.0 && ends_with_items != 1.0) {
    throw ProtocolError("'ends_with_items' is neither 0 nor 1");
  }
  guidance.ends_with_items = ends_with_items == 1.0;
  if (config.sends_share()) {
    guidance.weight_share = request.arrays.number("weight_share");
    if (!(guidance.weight_share >= 0.0 && guidance.weight_share <= 1.0)) {
      throw ProtocolError("'weight_share' is not between 0 and 1");
    }
  }
  return guidance;
}

ScopeFilters read_scope_filters(const Message& request, const FedHurConfig& config,
                                const Guidance& guidance, const ItemHierarchy& hierarchy) {
  ScopeFilters result;
  Index count = 0;
  for (const Scope& scope : hierarchy.scopes) {
    if (!scope.is_of_items()) count += linalg::packed_size(scope.num_members());
  }
  const Matrix& packed = *request.arrays.finite_matrix("group_filters", 1, count);
  Index at = 0;
  for (const Scope& scope : hierarchy.scopes) {
    if (scope.is_of_items()) {
      const double inherited =
          linalg::inherited_by(scope, result.filters, config.level_weights, hierarchy);
      result.filters.push_back(
          linalg::filter_of_items(*guidance.global_filter.factor, scope, inherited));
    } else {
      result.filters.push_back(
          {.dense = linalg::unpack(packed.data() + at, scope.num_members()), .factor = {}});
      at += linalg::packed_size(scope.num_members());
    }
  }
  const auto& norms = request.arrays.doubles("spectral_norms");
  if (norms.rows() != 1 || norms.cols() != hierarchy.num_scopes() || !norms.allFinite()) {
    throw ProtocolError("'spectral_norms' is not a finite number per scope");
  }
  result.spectral_norms.assign(norms.data(), norms.data() + norms.size());
  return result;
}

ItemFilter read_personalized_filter(const Message& request, const FedHurConfig& config,
                                    const Guidance& guidance) {
  if (!config.has_relations()) return guidance.global_filter;
  const auto read = [&](Index count) -> const Matrix& {
    return *request.arrays.finite_matrix("residuals", 1, count);
  };
  ItemFilter own;
  if (config.structure == Structure::single) {
    const Index rank = guidance.global_filter.factor->cols();
    own = linalg::add_residual_in_basis(guidance.global_filter, read(linalg::packed_size(rank)),
                                        config.single_weight);
  } else {
    const Shared<ItemHierarchy> hierarchy = guidance.build_hierarchy();
    own = linalg::add_residuals(guidance.global_filter, hierarchy, read(hierarchy->num_packed()),
                                config.level_weights);
  }
  if (config.scale == FilterScale::none) return own;
  return linalg::scale_to_trace(std::move(own), guidance.global_filter.trace());
}
}  // namespace fedhur::methods
