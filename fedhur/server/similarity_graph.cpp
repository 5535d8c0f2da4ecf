#include "fedhur/server/similarity_graph.hpp"

#include <algorithm>
#include <numeric>

#include "fedhur/base/error.hpp"
#include "fedhur/base/settings.hpp"

namespace fedhur::server {
namespace {
constexpr Index kClientsPerBlock = 32;
constexpr Index kNumbersPerChunk = 4096;  // of a table, in double at a time

Index num_parts(Index count, Index part) { return (count + part - 1) / part; }

// The same stretch of the tables of some clients, a row each.
MatrixOf<double> stretch_of(const Uploads& uploads, Index first_client, Index num_clients,
                            Index first, Index count) {
  MatrixOf<double> rows(num_clients, count);
  for (Index i = 0; i < num_clients; ++i) {
    const Matrix& table = *uploads[static_cast<std::size_t>(first_client + i)];
    rows.row(i) =
        Eigen::Map<const Eigen::Matrix<Real, 1, Eigen::Dynamic>>(table.data() + first, count)
            .cast<double>();
  }
  return rows;
}

// Inner products of all pairs of tables. Blocks of clients are the tasks, so that no sum depends on
// the number of threads.
MatrixOf<double> gram_of(const Uploads& uploads, const Executor& executor) {
  const auto num_clients = static_cast<Index>(uploads.size());
  const Index size = uploads[0]->size();
  const Index num_blocks = num_parts(num_clients, kClientsPerBlock);
  MatrixOf<double> gram(num_clients, num_clients);
  executor.for_each(num_blocks * num_blocks, [&](Index task) {
    const Index a = task / num_blocks * kClientsPerBlock;
    const Index b = task % num_blocks * kClientsPerBlock;
    if (a > b) return;  // the mirror image of another
    const Index a_count = std::min(kClientsPerBlock, num_clients - a);
    const Index b_count = std::min(kClientsPerBlock, num_clients - b);
    MatrixOf<double> sum = MatrixOf<double>::Zero(a_count, b_count);
    for (Index first = 0; first < size; first += kNumbersPerChunk) {
      const Index count = std::min(kNumbersPerChunk, size - first);
      sum.noalias() += stretch_of(uploads, a, a_count, first, count) *
                       stretch_of(uploads, b, b_count, first, count).transpose();
    }
    gram.block(a, b, a_count, b_count) = sum;
    if (a < b) gram.block(b, a, b_count, a_count) = sum.transpose();
  });
  return gram;
}

// The `count` largest entries of a row.
std::vector<Index> largest(const Eigen::RowVectorXd& row, Index count) {
  std::vector<Index> order(static_cast<std::size_t>(row.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return row(a) > row(b); });
  order.resize(static_cast<std::size_t>(std::min(count, row.size())));
  return order;
}

std::vector<Index> those_above(const Eigen::RowVectorXd& row, double threshold) {
  std::vector<Index> chosen;
  for (Index j = 0; j < row.size(); ++j) {
    if (row(j) > threshold) chosen.push_back(j);
  }
  return chosen;
}
}  // namespace

void declare_settings(Settings& settings, SimilarityGraphConfig& config) {
  settings.add("graph.kind", config.kind,
               "of two tables: `similarity` is their cosine s, `distance_reference` 1 - s, as in "
               "the published program, which joins those who are least alike");
  settings.add("graph.threshold", config.threshold, Range{},
               "times the mean; above it (not at it) clients are neighbours", "gamma");
  settings.add("graph.neighbors", config.neighbors, at_least(0),
               "above 0: so many most related clients instead, itself among them");
  settings.add("graph.layers", config.layers, between(1, 100),
               "how often tables are averaged over neighbours", "l");
}

MatrixOf<double> cosine_similarities(const Uploads& uploads, const Executor& executor) {
  expects(!uploads.empty(), "at least one client has uploaded");
  MatrixOf<double> similarities = gram_of(uploads, executor);
  const Eigen::VectorXd norms = similarities.diagonal().cwiseSqrt();
  for (Index k = 0; k < similarities.rows(); ++k) {
    for (Index j = 0; j < similarities.cols(); ++j) {
      const double scale = norms(k) * norms(j);
      similarities(k, j) = k == j ? 1.0 : scale > 0.0 ? similarities(k, j) / scale : 0.0;
    }
  }
  return similarities;
}

MatrixOf<double> weigh_neighbors(const MatrixOf<double>& similarities,
                                 const SimilarityGraphConfig& config) {
  MatrixOf<double> relations = similarities;
  if (config.kind == GraphKind::distance_reference) relations = 1.0 - similarities.array();
  const double threshold = config.threshold * relations.mean();
  MatrixOf<double> weights = MatrixOf<double>::Zero(relations.rows(), relations.cols());
  for (Index k = 0; k < relations.rows(); ++k) {
    std::vector<Index> neighbors = config.neighbors > 0
                                       ? largest(relations.row(k), config.neighbors)
                                       : those_above(relations.row(k), threshold);
    if (neighbors.empty()) neighbors.push_back(k);
    for (const Index j : neighbors) weights(k, j) = 1.0 / static_cast<double>(neighbors.size());
  }
  return weights;
}

Uploads average_over_neighbors(const Uploads& uploads, const MatrixOf<double>& weights,
                               Index layers, const Executor& executor) {
  MatrixOf<double> power = weights;
  for (Index layer = 1; layer < layers; ++layer) power = (power * weights).eval();
  const auto num_clients = static_cast<Index>(uploads.size());
  const Matrix& first_table = *uploads.front();
  std::vector<Matrix> averages(uploads.size());
  for (Matrix& average : averages) average.resize(first_table.rows(), first_table.cols());
  executor.for_each(num_parts(first_table.size(), kNumbersPerChunk), [&](Index task) {
    const Index first = task * kNumbersPerChunk;
    const Index count = std::min(kNumbersPerChunk, first_table.size() - first);
    const Matrix mixed = (power * stretch_of(uploads, 0, num_clients, first, count)).cast<Real>();
    for (Index k = 0; k < num_clients; ++k) {
      std::copy_n(mixed.row(k).data(), count, averages[static_cast<std::size_t>(k)].data() + first);
    }
  });
  Uploads shared;
  for (Matrix& average : averages) {
    shared.push_back(std::make_shared<const Matrix>(std::move(average)));
  }
  return shared;
}
}  // namespace fedhur::server
