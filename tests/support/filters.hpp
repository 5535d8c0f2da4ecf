// A personalised filter as a round makes it, at the size of a test.
#pragma once
#include "fedhur/linalg/symmetric.hpp"
#include "fedhur/server/group_embeddings.hpp"
#include "fedhur/server/personalization.hpp"
#include "fedhur/server/relation_scores.hpp"
#include "fedhur/server/retrieval.hpp"
#include "tests/support/dense.hpp"

namespace fedhur::tests {
// S~ of client 0: the global filter of `rank` (0: as wide as the embeddings) and the residuals of
// three levels, weighed at random.
struct PersonalizedCase {
  PersonalizedCase(Index num_clients, Index num_items, Index dim, Index rank, Real level_weight,
                   std::uint64_t seed)
      : uploads(related_uploads(num_clients, num_items, dim, seed)),
        hierarchy(random_hierarchy(num_items, 3, true, seed)) {
    const Executor executor(1);
    const server::GlobalFilter global = server::compute_global_filter(
        uploads, {.rank = rank, .passes = 1, .first_passes = 100}, {}, Rng(1), executor);
    filter = linalg::filter_of_factor(global.factor());
    filter.hierarchy = std::make_shared<const linalg::ItemHierarchy>(hierarchy);
    const server::GroupEmbeddings groups(uploads, filter.hierarchy, executor);
    for (Index s = 0; s < hierarchy.num_scopes(); ++s) {
      const MatrixOf<double> scores =
          random_symmetric(num_clients, seed * 100 + static_cast<std::uint64_t>(s)).cast<double>();
      const Matrix packed = server::mix_residuals(server::weigh_candidates(scores, 3.0, 0.5),
                                                  server::pack_grams(groups.of_scope(s)))
                                .row(0);
      const Index size = hierarchy.scopes[static_cast<std::size_t>(s)].num_members();
      filter.blocks.push_back(level_weight * linalg::unpack(packed.data(), size));
    }
  }
  [[nodiscard]] const Matrix& embeddings() const { return *uploads[0]; }

  server::Uploads uploads;
  linalg::ItemHierarchy hierarchy;
  linalg::ItemFilter filter;
};
}  // namespace fedhur::tests
