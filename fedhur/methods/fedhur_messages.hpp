// What crosses between the halves of FedHUR after the uploads.
#pragma once
#include "fedhur/linalg/personalized_filter.hpp"
#include "fedhur/methods/fedhur_round.hpp"

namespace fedhur::methods {
// "query": S_g, and with relations the item groups and their global filters. Filters of scopes of
// items are not sent: the clients rebuild them from the global factor.
[[nodiscard]] message::Message make_query_request(const FedHurRound& now);

// What a client is told by it.
struct Guidance {
  Round round = 0;
  linalg::ItemFilter global_filter{};       // S_g
  Shared<MatrixOf<std::int32_t>> groups{};  // the hierarchy as it came; null without relations
  bool ends_with_items = false;
  double weight_share = 1.0;  // see FedHurConfig::in_round()
  [[nodiscard]] Shared<linalg::ItemHierarchy> build_hierarchy() const;
};
// What it forms its queries with.
struct ScopeFilters {
  std::vector<linalg::RelationFilter> filters;  // F_g by scope
  std::vector<double> spectral_norms;
};
// Both: ProtocolError unless it is what make_query_request() writes.
[[nodiscard]] Guidance read_guidance(const message::Message& request, const FedHurConfig& config,
                                     Index num_items);
[[nodiscard]] ScopeFilters read_scope_filters(const message::Message& request,
                                              const FedHurConfig& config, const Guidance& guidance,
                                              const linalg::ItemHierarchy& hierarchy);

// "finetune": S~_k of the residuals in it. ProtocolError unless they fit what the client was told.
[[nodiscard]] linalg::ItemFilter read_personalized_filter(const message::Message& request,
                                                          const FedHurConfig& config,
                                                          const Guidance& guidance);
}  // namespace fedhur::methods
