// Relation filters of all scopes: what each client's groups have to do with each other.
#pragma once
#include "fedhur/base/parallel.hpp"
#include "fedhur/linalg/relation_filter.hpp"
#include "fedhur/server/global_information.hpp"

namespace fedhur::server {
// Z of every client and scope. Those of items are rows of the uploads and gathered when needed.
class GroupEmbeddings {
 public:
  GroupEmbeddings() = default;  // of no clients
  GroupEmbeddings(Uploads uploads, Shared<linalg::ItemHierarchy> hierarchy,
                  const Executor& executor);
  [[nodiscard]] Index num_clients() const { return static_cast<Index>(uploads_.size()); }
  [[nodiscard]] const linalg::ItemHierarchy& hierarchy() const { return *hierarchy_; }
  // Z_k of all clients k.
  [[nodiscard]] std::vector<Matrix> of_scope(Index scope) const;

 private:
  Uploads uploads_;
  Shared<linalg::ItemHierarchy> hierarchy_;
  std::vector<std::vector<Matrix>> groups_;  // by client and scope
};

// Eqs. (coarse_filter) and (finer_filter): F_g = inherited + mean_k Z_k Z_k^T of every scope. Those
// of scopes of items are taken from the global factor V Lambda^(1/2), as the clients take them.
[[nodiscard]] std::vector<linalg::RelationFilter> build_relation_filters(
    const GroupEmbeddings& group_embeddings, ConstMatrixRef global_factor,
    const std::vector<Real>& level_weights, const Executor& executor);
// Their largest eigenvalues.
[[nodiscard]] std::vector<double> spectral_norms(const std::vector<linalg::RelationFilter>& filters,
                                                 const Executor& executor);
}  // namespace fedhur::server
