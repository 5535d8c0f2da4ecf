#include "fedhur/server/group_embeddings.hpp"

namespace fedhur::server {
GroupEmbeddings::GroupEmbeddings(Uploads uploads, Shared<linalg::ItemHierarchy> hierarchy,
                                 const Executor& executor)
    : uploads_(std::move(uploads)), hierarchy_(std::move(hierarchy)), groups_(uploads_.size()) {
  executor.for_each(num_clients(), [&](Index client) {
    const auto k = static_cast<std::size_t>(client);
    groups_[k] = linalg::average_all_groups(*uploads_[k], *hierarchy_);
  });
}

std::vector<Matrix> GroupEmbeddings::of_scope(Index scope) const {
  const auto s = static_cast<std::size_t>(scope);
  const linalg::Scope& members = hierarchy_->scopes[s];
  std::vector<Matrix> result;
  result.reserve(groups_.size());
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    if (members.is_of_items()) {
      result.emplace_back(uploads_[k]->operator()(members.items, Eigen::all));
    } else {
      result.push_back(groups_[k][s]);
    }
  }
  return result;
}

std::vector<linalg::RelationFilter> build_relation_filters(const GroupEmbeddings& group_embeddings,
                                                           ConstMatrixRef global_factor,
                                                           const std::vector<Real>& level_weights,
                                                           const Executor& executor) {
  const linalg::ItemHierarchy& hierarchy = group_embeddings.hierarchy();
  std::vector<linalg::RelationFilter> filters(hierarchy.scopes.size());
  executor.for_each(hierarchy.num_scopes(), [&](Index scope) {
    const linalg::Scope& members = hierarchy.scopes[static_cast<std::size_t>(scope)];
    if (members.is_of_items()) return;
    MatrixOf<double> sum = MatrixOf<double>::Zero(members.num_members(), members.num_members());
    for (const Matrix& Z : group_embeddings.of_scope(scope)) {
      sum += (Z * Z.transpose()).cast<double>();
    }
    filters[static_cast<std::size_t>(scope)].dense =
        (sum / static_cast<double>(group_embeddings.num_clients())).cast<Real>();
  });
  for (std::size_t s = 0; s < filters.size(); ++s) {  // coarse to fine: each inherits from above
    const linalg::Scope& scope = hierarchy.scopes[s];
    const double inherited = linalg::inherited_by(scope, filters, level_weights, hierarchy);
    if (scope.is_of_items()) {
      filters[s] = linalg::filter_of_items(global_factor, scope, inherited);
    } else {
      filters[s].dense.array() += static_cast<Real>(inherited);
    }
  }
  return filters;
}

std::vector<double> spectral_norms(const std::vector<linalg::RelationFilter>& filters,
                                   const Executor& executor) {
  std::vector<double> norms(filters.size());
  executor.for_each(std::ssize(filters), [&](Index scope) {
    const auto s = static_cast<std::size_t>(scope);
    norms[s] = filters[s].spectral_norm();
  });
  return norms;
}
}  // namespace fedhur::server
