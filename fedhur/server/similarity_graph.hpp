// Who is like whom: a graph of clients by the cosine similarity of their item tables, and tables
// that are averaged along it.
#pragma once
#include "fedhur/base/config_table.hpp"
#include "fedhur/server/global_information.hpp"

namespace fedhur::server {
enum class GraphKind : std::uint8_t {
  similarity,          // s
  distance_reference,  // 1 - s, as published code has it: it joins those who are least alike
};
constexpr auto names_of(GraphKind) { return std::array{"similarity", "distance_reference"}; }

struct SimilarityGraphConfig {
  GraphKind kind = GraphKind::similarity;
  double threshold = 1.0;  // gamma
  Index neighbors = 0;
  Index layers = 1;  // l
};
void declare_settings(Settings& settings, SimilarityGraphConfig& config);

// s_kj, in double: tables of one start are so alike that floats would decide by their rounding. A
// table of zeros is like none but itself.
[[nodiscard]] MatrixOf<double> cosine_similarities(const Uploads& uploads,
                                                   const Executor& executor);

// A: each client's neighbours, all of one weight, a row per client. It may be its own neighbour,
// and is its only one where it would have none. Equally related clients are taken in client order.
[[nodiscard]] MatrixOf<double> weigh_neighbors(const MatrixOf<double>& similarities,
                                               const SimilarityGraphConfig& config);

// R_k = sum_j (A^l)_kj E_j
[[nodiscard]] Uploads average_over_neighbors(const Uploads& uploads,
                                             const MatrixOf<double>& weights, Index layers,
                                             const Executor& executor);
}  // namespace fedhur::server
