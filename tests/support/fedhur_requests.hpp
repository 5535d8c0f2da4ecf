// What a FedHUR server sends in a round, made from given uploads.
#pragma once
#include "fedhur/linalg/symmetric.hpp"
#include "fedhur/methods/fedhur_messages.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/support.hpp"

namespace fedhur::tests {
[[nodiscard]] inline methods::FedHurConfig fedhur_config(
    const std::vector<std::string>& assignments) {
  ConfigTable table;
  for (const std::string& assignment : assignments) experiment::add_assignment(table, assignment);
  Settings settings(table);
  methods::FedHurConfig config;
  declare_settings(settings, config);
  settings.reject_unknown();
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
  methods::FedHurRound now{.config = config, .weight_share = 0.5};
  now.trained.round = round;
  const server::GlobalFilter global =
      server::compute_global_filter(uploads, {}, {}, Rng(1), executor);
  now.trained.global_factor = std::make_shared<const Matrix>(global.factor());
  now.groups.hierarchy = std::make_shared<const linalg::ItemHierarchy>(
      config.structure == methods::Structure::single ? linalg::hierarchy_of_items(num_items)
                                                     : random_hierarchy(num_items, 3, true, 1));
  now.groups.filters = server::build_relation_filters(
      server::GroupEmbeddings(uploads, now.groups.hierarchy, executor), global.factor(),
      config.level_weights, executor);
  now.groups.spectral_norms = server::spectral_norms(now.groups.filters, executor);
  FedHurRequests requests{.query = methods::make_query_request(now),
                          .finetune = {.kind = "finetune", .round = round, .arrays = {}}};
  const Index count = config.structure == methods::Structure::single
                          ? linalg::packed_size(global.basis.cols())
                          : now.groups.hierarchy->num_packed();
  if (config.has_relations()) {
    requests.finetune.arrays.set("residuals", Matrix(0.001F * random_matrix(1, count, 2)));
  }
  return requests;
}
}  // namespace fedhur::tests
