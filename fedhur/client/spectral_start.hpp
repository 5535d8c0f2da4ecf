// A client's terms of the sums behind a spectral start, and the user vectors that go with it. X is
// the client's training rows as zeros and ones (a row per user), n_u the items of a user.
#pragma once
#include <optional>

#include "fedhur/data/interactions.hpp"
#include "fedhur/message/message.hpp"

namespace fedhur::client {
// How many users have an item.
[[nodiscard]] MatrixOf<double> count_users(const data::UserItems& rows, Index num_items);
// X^T diag(1/n_u) X table: the co-occurrences of items, times a row per item.
[[nodiscard]] Matrix multiply_co_occurrences(const data::UserItems& rows, ConstMatrixRef table);
// p_u = n_u^-1/2 sum over the items i of u of w_i e_i; zeros for a user without items.
[[nodiscard]] Matrix fold_in(const data::UserItems& rows, ConstMatrixRef items,
                             ConstMatrixRef weights);

// Sums over the users that have items.
struct StartScores {
  double margins = 0.0;  // mean score of the user's own items minus that of all items
  double squares = 0.0;  // |p_u|^2
  double num_users = 0.0;
};
[[nodiscard]] StartScores score_start(const data::UserItems& rows, ConstMatrixRef items,
                                      ConstMatrixRef weights);

// Answers "degrees", "co_occurrences" and "start_scores"; false for any other kind. ProtocolError
// unless tables have a finite row per item.
[[nodiscard]] bool answer_spectral_start(const message::Message& request,
                                         const data::UserItems& rows, Index num_items,
                                         message::Message& reply);

// What "start" brings.
struct ModelStart {
  Shared<Matrix> item_embeddings;
  std::optional<Matrix> user_vectors;  // folded in, if it says how
};
// ProtocolError unless it has `embedding_dim` finite columns and a row per item.
[[nodiscard]] ModelStart read_start(const message::Message& request, const data::UserItems& rows,
                                    Index num_items, Index embedding_dim);
}  // namespace fedhur::client
