// What a FedHUR server sends in a round, made from given uploads.
#pragma once
#include "fedhur/linalg/symmetric.hpp"
#include "fedhur/methods/fedhur_messages.hpp"
#include "fedhur/server/group_embeddings.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::tests {
[[nodiscard]] inline methods::FedHurConfig fedhur_config(
    const std::vector<std::string>& assignments) {
  ConfigTable table;
  for (const std::string& assignment : assignments) experiment::add_assignment(table, assignment);
  methods::FedHurConfig config;
  read_settings(table, config);
  table.reject_unread();
  return config;
}

struct FedHurRequests {
  message::Message query;
  message::Message finetune;
};

// Residuals are small random numbers: what a client makes of them does not depend on their origin.
[[nodiscard]] inline FedHurRequests fedhur_requests(const methods::FedHurConfig& config,
                                                    const server::Uploads& uploads, Round round) {
  const Executor executor(1);
  const Index num_items = uploads[0]->rows();
  const linalg::ItemHierarchy hierarchy = config.structure == methods::Structure::single
                                              ? linalg::hierarchy_of_items(num_items)
                                              : random_hierarchy(num_items, 3, true, 1);
  const server::GlobalFilter global =
      server::compute_global_filter(uploads, {}, {}, Rng(1), executor);
  const server::GroupEmbeddings groups(uploads, hierarchy, executor);
  const auto filters = server::build_relation_filters(groups, hierarchy, global.factor(),
                                                      config.level_weights, executor);
  std::vector<double> norms;
  for (const auto& filter : filters) norms.push_back(filter.spectral_norm());
  FedHurRequests requests{.query = {.kind = "query", .round = round, .arrays = {}},
                          .finetune = {.kind = "finetune", .round = round, .arrays = {}}};
  methods::put_guidance(requests.query, config, global.factor(), hierarchy, filters, norms);
  const Index count = config.structure == methods::Structure::single
                          ? linalg::packed_size(global.basis.cols())
                          : hierarchy.num_packed();
  if (config.has_relations()) {
    requests.finetune.arrays.set("residuals", Matrix(0.001F * random_matrix(1, count, 2)));
  }
  return requests;
}
}  // namespace fedhur::tests
