// What crosses between the halves of FedHUR after the uploads.
#pragma once
#include <optional>

#include "fedhur/linalg/item_filter.hpp"
#include "fedhur/linalg/relation_filter.hpp"
#include "fedhur/methods/fedhur_config.hpp"

namespace fedhur::methods {
// What a client needs to form its queries, and later its filter. Filters of scopes of items are
// rebuilt from the global factor; only those of groups are sent.
struct Guidance {
  linalg::ItemFilter global_filter;
  std::shared_ptr<const linalg::ItemHierarchy> hierarchy;  // null without relations
  std::vector<linalg::RelationFilter> filters;             // F_g by scope, for queries alone
  std::vector<double> spectral_norms;
};
enum class Purpose : std::uint8_t { query, finetune };  // the latter needs no filters of scopes

void put_guidance(message::Message& request, const FedHurConfig& config,
                  const Matrix& global_factor, const linalg::ItemHierarchy& hierarchy,
                  const std::vector<linalg::RelationFilter>& filters,
                  const std::vector<double>& spectral_norms);
// ProtocolError unless it is what put_guidance() writes.
[[nodiscard]] Guidance read_guidance(const message::Message& request, const FedHurConfig& config,
                                     Index num_items, Purpose purpose = Purpose::query);

// Eq. (personalized_filter): S_g plus the weighted residuals of the request.
[[nodiscard]] linalg::ItemFilter read_personalized_filter(const message::Message& request,
                                                          const FedHurConfig& config,
                                                          const Guidance& guidance);
}  // namespace fedhur::methods
