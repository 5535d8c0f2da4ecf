// Item embeddings to begin with: the leading eigenvectors of the normalised co-occurrences of all
// clients, from sums over clients alone.
#pragma once
#include <functional>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/matrix.hpp"
#include "fedhur/base/random.hpp"

namespace fedhur::server {
struct SubspaceConfig {
  Index passes = 8;
  Index oversampling = 16;
};
void declare_settings(Settings& settings, SubspaceConfig& config);

// sum_u x_u x_u^T / n_u over the users of all clients, times a table (a row per item).
using CoOccurrenceProduct = std::function<Matrix(const Matrix& table)>;

// W (n x rank): the leading eigenvectors of N = D^-1/2 (sum_u x_u x_u^T / n_u) D^-1/2 for D =
// diag(degrees), by block subspace iteration from a random start. Each pass is one call. The
// columns are orthonormal; those beyond the rank of N are zero, and so are rows of items nobody
// has.
[[nodiscard]] Matrix leading_eigenvectors(const Eigen::VectorXd& degrees, Index rank,
                                          const SubspaceConfig& config, Rng rng,
                                          const CoOccurrenceProduct& multiply);

// Items E and weights w of the fold-in: p_u = n_u^-1/2 sum_i w_i e_i.
struct StartTables {
  Matrix item_embeddings;
  Matrix fold_in_weights;  // n x 1; 0 for items nobody has
};
// E = D^1/2 W, and w such that w_i e_i is row i of W.
[[nodiscard]] StartTables make_start(const Matrix& W, const Eigen::VectorXd& degrees);

// Means over all users that have items, with the tables as they are.
struct StartMeans {
  double margin = 0.0;  // score of the user's own items minus that of all items
  double square = 0.0;  // |p_u|^2
};
// Makes the margin 3 (where there is one), and the root mean square of E that of the user vectors.
void scale_start(StartTables& start, const StartMeans& means);
}  // namespace fedhur::server
