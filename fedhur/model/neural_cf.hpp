// A learned score function: score(u, i) = network([p_u ; e_i]) + sum_q w_q p'_uq e'_iq. With both
// terms it is NeuMF; the second, generalised matrix factorisation (GMF), may have no columns.
#pragma once
#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "fedhur/linalg/adam.hpp"
#include "fedhur/linalg/mlp.hpp"
#include "fedhur/model/recommender.hpp"
#include "fedhur/model/training_samples.hpp"

namespace fedhur::model {
// The parameters, or one of something else for each of them: a gradient, an optimiser.
template <class Table>
struct NeuralTables {
  Table user_vectors;         // p, a row per user of the client
  Table gmf_user_vectors;     // p'
  Table item_embeddings;      // e, a row per item
  Table gmf_item_embeddings;  // e'
  Table gmf_weights;          // w, one row
  std::vector<Table> network;

  // One of something else for each table.
  template <class Make>
  [[nodiscard]] auto map(const Make& make) const {
    NeuralTables<decltype(make(user_vectors))> made{
        make(user_vectors),        make(gmf_user_vectors), make(item_embeddings),
        make(gmf_item_embeddings), make(gmf_weights),      {}};
    for (const Table& layer : network) made.network.push_back(make(layer));
    return made;
  }
};
using NeuralParameters = NeuralTables<Matrix>;
using NeuralGradient = NeuralTables<linalg::RowGradient>;

// visit(name, table of each): in one order, over several sets of tables in step.
template <class Visit, class... Tables>
void visit_user_tables(const Visit& visit, Tables&... tables) {
  visit(std::string("user_vectors"), tables.user_vectors...);
  visit(std::string("gmf_user_vectors"), tables.gmf_user_vectors...);
}
template <class Visit, class... Tables>
void visit_item_tables(const Visit& visit, Tables&... tables) {
  visit(std::string("item_embeddings"), tables.item_embeddings...);
  visit(std::string("gmf_item_embeddings"), tables.gmf_item_embeddings...);
}
template <class Visit, class First, class... Tables>
void visit_weights(const Visit& visit, First& first, Tables&... tables) {
  visit(std::string("gmf_weights"), first.gmf_weights, tables.gmf_weights...);
  for (std::size_t layer = 0; layer < first.network.size(); ++layer) {
    visit(fmt::format("layer_{}", layer), first.network[layer], tables.network[layer]...);
  }
}
template <class Visit, class... Tables>
void visit_tables(const Visit& visit, Tables&... tables) {
  visit_user_tables(visit, tables...);
  visit_item_tables(visit, tables...);
  visit_weights(visit, tables...);
}

// Network and GMF weights for vectors of these widths. Together they are one output layer, and are
// drawn as one.
struct NeuralWeights {
  Matrix gmf_weights;
  linalg::Mlp network;
};
[[nodiscard]] NeuralWeights draw_weights(Index embedding_dim, Index gmf_dim,
                                         const std::vector<Index>& hidden, const Rng& rng);

struct NeuralCf final : Recommender {
  NeuralParameters parameters;

  [[nodiscard]] Index num_users() const override { return parameters.user_vectors.rows(); }
  [[nodiscard]] Index num_items() const override { return parameters.item_embeddings.rows(); }
  // The first layer's sums are a user's half plus an item's half: each is computed once, and only
  // their sum and what follows for every pair.
  void score(Index first_user, MatrixRef scores) const override;
};

// Whether all tables fit together.
[[nodiscard]] bool is_whole(const NeuralParameters& parameters);

// The logits of a batch, one per pair.
[[nodiscard]] Vector score_pairs(const NeuralParameters& parameters,
                                 std::span<const LabelledPair> batch);

// The mean binary cross-entropy of a batch of B pairs: returns B times it and adds its gradient (of
// the mean).
double add_batch_gradient(const NeuralParameters& parameters, std::span<const LabelledPair> batch,
                          NeuralGradient& gradient);
[[nodiscard]] NeuralGradient make_gradient(const NeuralParameters& parameters);
void clear(NeuralGradient& gradient);
}  // namespace fedhur::model
