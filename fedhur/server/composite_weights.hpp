// FedCA: how much of every candidate's table a target receives, by how much data lies behind it,
// how alike the two tables are, and how far the spaces of their samples coincide. Rows are targets,
// columns candidates.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/server/global_information.hpp"

namespace fedhur::server {
enum class Favoured : std::uint8_t {  // chi, the sign with which closeness counts
  complementary,                      // -1: whose samples span another space
  alike,                              // +1: whose samples span the same one
};
constexpr auto names_of(Favoured) { return std::array{"complementary", "alike"}; }

struct CompositeConfig {
  Real similarity_weight = 0.3F;  // beta
  Real closeness_weight = 0.3F;   // alpha
  Favoured favoured = Favoured::complementary;
};

// 1 / (1 + distance), where the distance is that of the first principal components of the two
// tables, each up to its sign. What is above 0.9 counts as 1.
[[nodiscard]] MatrixOf<double> score_table_similarity(const Uploads& uploads,
                                                      const Executor& executor);

// The cosine of the mean principal angle between the spaces of two bases, one direction per row.
// All are cut to the length of the shortest, so that pairs compare. A client without samples has no
// directions: it does not count for the shortest, and its closeness to all others is 1. Rows of one
// basis are independent.
[[nodiscard]] MatrixOf<double> score_closeness(const Uploads& bases, const Executor& executor);

// W: of all points of the simplex the nearest to
// v_kj = n_j / sum n + beta * similarity_kj + chi * alpha * closeness_kj. Every row sums to one.
[[nodiscard]] MatrixOf<double> weigh_composite(const Eigen::VectorXd& data_sizes,
                                               const MatrixOf<double>& similarity,
                                               const MatrixOf<double>& closeness,
                                               const CompositeConfig& config);

// sum_j W_kj E_j for every k, added in double.
[[nodiscard]] std::vector<Matrix> mix_tables(const Uploads& uploads,
                                             const MatrixOf<double>& weights,
                                             const Executor& executor);
}  // namespace fedhur::server
