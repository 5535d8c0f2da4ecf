#include "fedhur/methods/fedhur_messages.hpp"

#include <algorithm>

#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::methods {
using linalg::ItemFilter;
using linalg::ItemHierarchy;
using linalg::RelationFilter;
using linalg::Scope;
using message::Message;
namespace {
// F_g of every scope, from what was sent and from the factor.
std::vector<RelationFilter> rebuild_filters(const ItemHierarchy& hierarchy, const Matrix& factor,
                                            const NamedArrays& arrays,
                                            const std::vector<Real>& level_weights) {
  Index count = 0;
  for (const Scope& scope : hierarchy.scopes) {
    if (!scope.is_of_items()) count += linalg::packed_size(scope.num_members());
  }
  const Matrix& packed = *arrays.finite_matrix("group_filters", 1, count);
  std::vector<RelationFilter> filters;
  Index at = 0;
  for (const Scope& scope : hierarchy.scopes) {
    if (scope.is_of_items()) {
      const double inherited = linalg::inherited_by(scope, filters, level_weights, hierarchy);
      filters.push_back(linalg::filter_of_items(factor, scope, inherited));
    } else {
      filters.push_back(
          {.dense = linalg::unpack(packed.data() + at, scope.num_members()), .factor = {}});
      at += linalg::packed_size(scope.num_members());
    }
  }
  return filters;
}

// V (Lambda + R) V^T, with R in the global basis V, in the form of an eigendecomposition.
ItemFilter add_to_core(const ItemFilter& global, const Matrix& residual) {
  MatrixOf<double> core = residual.cast<double>();
  core.diagonal() += global.values;
  const linalg::EigenPairs pairs = linalg::eigen_pairs(core);
  Eigen::VectorXd inverse_lengths = Eigen::VectorXd::Zero(core.rows());
  for (Index i = 0; i < core.rows(); ++i) {
    if (global.values(i) > 0.0) inverse_lengths(i) = 1.0 / std::sqrt(global.values(i));
  }
  const MatrixOf<double> transform = inverse_lengths.asDiagonal() * pairs.vectors *
                                     pairs.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
  return linalg::filter_of_factor(*global.factor * transform.cast<Real>());
}
}  // namespace

void put_guidance(Message& request, const FedHurConfig& config, const Matrix& global_factor,
                  const ItemHierarchy& hierarchy, const std::vector<RelationFilter>& filters,
                  const std::vector<double>& spectral_norms) {
  request.arrays.set("global_factor", global_factor);
  if (!config.has_relations()) return;
  linalg::HierarchyTable table = linalg::to_table(hierarchy);
  request.arrays.set("hierarchy", std::move(table.members));
  request.arrays.set_number("ends_with_items", table.ends_with_items ? 1 : 0);
  if (!config.asks_queries()) return;
  Index count = 0;
  for (const RelationFilter& filter : filters) count += linalg::packed_size(filter.dense.rows());
  Matrix packed(1, count);
  Real* at = packed.data();
  for (const RelationFilter& filter : filters) {
    linalg::pack(filter.dense, at);
    at += linalg::packed_size(filter.dense.rows());
  }
  request.arrays.set("group_filters", std::move(packed));
  // Others are divided by them, and there are few: they are worth all their digits on any wire.
  MatrixOf<double> norms(1, static_cast<Index>(spectral_norms.size()));
  std::copy(spectral_norms.begin(), spectral_norms.end(), norms.data());
  request.arrays.set("spectral_norms", std::move(norms));
}

Guidance read_guidance(const Message& request, const FedHurConfig& config, Index num_items,
                       Purpose purpose) {
  Guidance guidance;
  const Index rank = request.arrays.matrix("global_factor").cols();
  const Shared<Matrix>& factor = request.arrays.finite_matrix("global_factor", num_items, rank);
  guidance.global_filter = linalg::filter_of_factor(factor);
  if (!config.has_relations()) return guidance;
  const auto& members = request.arrays.integers("hierarchy");
  if (members.rows() != num_items) throw ProtocolError("'hierarchy' is not of these items");
  const double ends_with_items = request.arrays.number("ends_with_items");
  if (ends_with_items != 0.0 && ends_with_items != 1.0) {
    throw ProtocolError("'ends_with_items' is neither 0 nor 1");
  }
  auto hierarchy = std::make_shared<ItemHierarchy>(
      linalg::from_table({.members = members, .ends_with_items = ends_with_items == 1.0}));
  if (config.asks_queries() && purpose == Purpose::query) {
    guidance.filters = rebuild_filters(*hierarchy, *factor, request.arrays, config.level_weights);
    const auto& norms = request.arrays.doubles("spectral_norms");
    if (norms.rows() != 1 || norms.cols() != hierarchy->num_scopes() || !norms.allFinite()) {
      throw ProtocolError("'spectral_norms' is not a finite number per scope");
    }
    guidance.spectral_norms.assign(norms.data(), norms.data() + norms.size());
  }
  guidance.hierarchy = std::move(hierarchy);
  return guidance;
}

ItemFilter read_personalized_filter(const Message& request, const FedHurConfig& config,
                                    const Guidance& guidance) {
  ItemFilter filter = guidance.global_filter;
  if (!config.has_relations()) return filter;
  if (config.structure == Structure::single) {
    const Index rank = filter.factor->cols();
    const Matrix& packed = *request.arrays.finite_matrix("residuals", 1, linalg::packed_size(rank));
    return add_to_core(filter, config.single_weight * linalg::unpack(packed.data(), rank));
  }
  const ItemHierarchy& hierarchy = *guidance.hierarchy;
  const Matrix& packed = *request.arrays.finite_matrix("residuals", 1, hierarchy.num_packed());
  filter.hierarchy = guidance.hierarchy;
  const Real* at = packed.data();
  for (const Scope& scope : hierarchy.scopes) {
    filter.blocks.emplace_back(linalg::level_weight(config.level_weights, scope.level) *
                               linalg::unpack(at, scope.num_members()));
    at += linalg::packed_size(scope.num_members());
  }
  return filter;
}
}  // namespace fedhur::methods
