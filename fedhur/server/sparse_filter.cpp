#include "fedhur/server/sparse_filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace fedhur::server {
namespace {
using Square = Eigen::MatrixXd;

// Runs task(first, last) over parts of [0, count): for work with a buffer of its own.
template <class Task>
void for_each_part(Index count, const Executor& executor, const Task& task) {
  const Index num_parts = std::min(count, 32 * executor.num_threads());
  executor.for_each(num_parts, [&](Index part) {
    task(count * part / num_parts, count * (part + 1) / num_parts);
  });
}

// G: the rows of the whole symmetric matrix, but for its diagonal.
struct Gram {
  Eigen::VectorXd diagonal;  // g
  Eigen::VectorXd roots;     // their square roots
  std::vector<std::size_t> starts;
  std::vector<std::int32_t> cols;
  std::vector<double> values;
  // Rows with an entry for at least every kLeastFill-th item once more with their zeros, where a
  // value is found in one step; empty for all others.
  std::vector<std::vector<double>> full_rows;
  static constexpr std::size_t kLeastFill = 4;

  [[nodiscard]] Index num_items() const { return diagonal.size(); }
  [[nodiscard]] std::size_t begin_of(Index row) const {
    return starts[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] std::size_t end_of(Index row) const {
    return starts[static_cast<std::size_t>(row) + 1];
  }
};

Gram expand(const CoOccurrences& sum, double unit) {
  const auto num_items = static_cast<std::size_t>(sum.rows());
  Gram gram;
  gram.diagonal = Eigen::VectorXd::Zero(sum.rows());
  gram.starts.assign(num_items + 1, 0);
  const auto for_each_pair = [&sum](const auto& task) {
    Index row = 0;
    for (std::size_t e = 0; e < sum.num_entries(); ++e) {
      while (sum.places()[e] >= (row + 1) * sum.cols()) ++row;
      task(static_cast<std::size_t>(row),
           static_cast<std::size_t>(sum.places()[e] - row * sum.cols()),
           static_cast<double>(sum.values()[e]));
    }
  };
  for_each_pair([&](std::size_t i, std::size_t j, double value) {
    if (i == j) {
      gram.diagonal(static_cast<Index>(i)) = value / unit;
    } else if (value > 0.0) {
      ++gram.starts[i + 1];
      ++gram.starts[j + 1];
    }
  });
  for (std::size_t i = 0; i < num_items; ++i) gram.starts[i + 1] += gram.starts[i];
  gram.cols.resize(gram.starts.back());
  gram.values.resize(gram.starts.back());
  std::vector<std::size_t> next(gram.starts.begin(), gram.starts.end() - 1);
  const auto put = [&](std::size_t row, std::size_t col, double value) {
    gram.cols[next[row]] = static_cast<std::int32_t>(col);
    gram.values[next[row]++] = value / unit;
  };
  // In the order of the upper triangle every row gets its columns in ascending order: first those
  // left of the diagonal, from the rows above, then its own.
  for_each_pair([&](std::size_t i, std::size_t j, double value) {
    if (i == j || !(value > 0.0)) return;
    put(i, j, value);
    put(j, i, value);
  });
  gram.roots = gram.diagonal.cwiseSqrt();
  gram.full_rows.resize(num_items);
  for (std::size_t i = 0; i < num_items; ++i) {
    if ((gram.starts[i + 1] - gram.starts[i]) * Gram::kLeastFill < num_items) continue;
    gram.full_rows[i].assign(num_items, 0.0);
    for (std::size_t e = gram.starts[i]; e < gram.starts[i + 1]; ++e) {
      gram.full_rows[i][static_cast<std::size_t>(gram.cols[e])] = gram.values[e];
    }
  }
  return gram;
}

struct Column {
  std::vector<std::int32_t> items;  // the neighbours, ascending
  std::vector<Real> weights;
};

// Those with the largest cosine, which in one row is G_ij / sqrt(g_i); equal ones by the lower
// index.
std::vector<std::int32_t> choose_neighbors(const Gram& gram, Index item, Index most) {
  struct Candidate {
    double cosine;
    std::int32_t item;
  };
  std::vector<Candidate> candidates;
  for (std::size_t e = gram.begin_of(item); e < gram.end_of(item); ++e) {
    candidates.push_back({gram.values[e] / gram.roots(gram.cols[e]), gram.cols[e]});
  }
  if (std::ssize(candidates) > most) {
    const auto is_nearer = [](const Candidate& a, const Candidate& b) {
      return a.cosine != b.cosine ? a.cosine > b.cosine : a.item < b.item;
    };
    std::ranges::nth_element(candidates, candidates.begin() + most, is_nearer);
    candidates.resize(static_cast<std::size_t>(most));
  }
  std::vector<std::int32_t> items;
  for (const Candidate& candidate : candidates) items.push_back(candidate.item);
  std::ranges::sort(items);
  return items;
}

// What is multiplied with all weights of an item's column.
double scale_of(const Gram& gram, Index item, const SparseFilterConfig& config) {
  return std::pow(gram.diagonal(item), -config.popularity_correction);
}

void put_weight(Column& column, std::int32_t item, double weight,
                const SparseFilterConfig& config) {
  if (config.positive && !(weight > 0.0)) return;
  column.items.push_back(item);
  column.weights.push_back(static_cast<Real>(weight));
}

// What one column after the other is computed in.
struct Workspace {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  explicit Workspace(Index num_items) : positions(static_cast<std::size_t>(num_items), kNone) {}
  std::vector<std::uint32_t> positions;  // of the neighbours; kNone for all other items
  std::vector<double> system;
};

// Where a row has more entries for each neighbour that is looked for, searching is faster than
// reading it.
constexpr std::ptrdiff_t kLongRow = 64;

// The lower triangle of A: a column of it is a row of G. What is above the diagonal means nothing.
Eigen::Map<Square> build_system(const Gram& gram, const std::vector<std::int32_t>& neighbors,
                                const SparseFilterConfig& config, Workspace& workspace) {
  const std::size_t size = neighbors.size();
  workspace.system.assign(size * size + 1, 0.0);
  for (std::size_t a = 0; a < size; ++a) {
    const auto neighbor = static_cast<std::size_t>(neighbors[a]);
    const double own = gram.diagonal(neighbors[a]);
    double* column = workspace.system.data() + a * size;
    column[a] = own + config.regularization + config.denoising * own;
    if (const auto& row = gram.full_rows[neighbor]; !row.empty()) {
      for (std::size_t b = a + 1; b < size; ++b) {
        column[b] = row[static_cast<std::size_t>(neighbors[b])];
      }
      continue;
    }
    const auto begin = gram.cols.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(gram.end_of(neighbors[a]));
    auto col = std::lower_bound(begin + static_cast<std::ptrdiff_t>(gram.begin_of(neighbors[a])),
                                end, neighbors[a]);
    if (end - col > kLongRow * static_cast<std::ptrdiff_t>(size - a)) {
      for (std::size_t b = a + 1; b < size; ++b) {
        col = std::lower_bound(col, end, neighbors[b]);
        if (col == end) break;
        if (*col == neighbors[b]) column[b] = gram.values[static_cast<std::size_t>(col - begin)];
      }
      continue;
    }
    // Without a branch, which would be guessed wrong too often: all others go to the place behind
    // the column, which is above the diagonal of the next.
    for (; col != end && *col <= neighbors.back(); ++col) {
      const std::size_t b = workspace.positions[static_cast<std::size_t>(*col)];
      column[std::min(b, size)] = gram.values[static_cast<std::size_t>(col - begin)];
    }
  }
  return {workspace.system.data(), static_cast<Index>(size), static_cast<Index>(size)};
}

Column fit_column(const Gram& gram, Index item, const SparseFilterConfig& config,
                  Workspace& workspace) {
  const std::vector<std::int32_t> neighbors = choose_neighbors(gram, item, config.neighbors);
  Column column;
  if (neighbors.empty()) return column;
  auto& positions = workspace.positions;
  const std::size_t size = neighbors.size();
  for (std::size_t a = 0; a < size; ++a) {
    positions[static_cast<std::size_t>(neighbors[a])] = static_cast<std::uint32_t>(a);
  }
  Eigen::VectorXd target(static_cast<Index>(size));
  for (std::size_t e = gram.begin_of(item); e < gram.end_of(item); ++e) {
    const std::uint32_t a = positions[static_cast<std::size_t>(gram.cols[e])];
    if (a != Workspace::kNone) target(a) = gram.values[e];
  }
  Eigen::Map<Square> system = build_system(gram, neighbors, config, workspace);
  for (const std::int32_t neighbor : neighbors) {
    positions[static_cast<std::size_t>(neighbor)] = Workspace::kNone;
  }
  const Eigen::LLT<Eigen::Ref<Square>> cholesky(system);
  cholesky.solveInPlace(target);
  const double scale = scale_of(gram, item, config);
  column.items.reserve(size);
  column.weights.reserve(size);
  for (std::size_t a = 0; a < size; ++a) {
    put_weight(column, neighbors[a], scale * target(static_cast<Index>(a)), config);
  }
  return column;
}

std::vector<Column> fit_columns(const Gram& gram, const SparseFilterConfig& config,
                                const Executor& executor) {
  std::vector<Column> columns(static_cast<std::size_t>(gram.num_items()));
  for_each_part(gram.num_items(), executor, [&](Index first, Index last) {
    Workspace workspace(gram.num_items());
    for (Index item = first; item < last; ++item) {
      columns[static_cast<std::size_t>(item)] = fit_column(gram, item, config, workspace);
    }
  });
  return columns;
}

// With all items as neighbours, the regressions have one inverse P in common: their weights are
// -P_ij / P_jj. An item that nobody has is nobody's neighbour.
std::vector<Column> fit_on_all_items(const Gram& gram, const SparseFilterConfig& config) {
  std::vector<std::int32_t> items;
  std::vector<Index> positions(static_cast<std::size_t>(gram.num_items()), -1);
  for (Index item = 0; item < gram.num_items(); ++item) {
    if (!(gram.diagonal(item) > 0.0)) continue;
    positions[static_cast<std::size_t>(item)] = std::ssize(items);
    items.push_back(static_cast<std::int32_t>(item));
  }
  const auto size = std::ssize(items);
  Square system = Square::Zero(size, size);
  for (Index a = 0; a < size; ++a) {
    const std::int32_t item = items[static_cast<std::size_t>(a)];
    const double own = gram.diagonal(item);
    system(a, a) = own + config.regularization + config.denoising * own;
    for (std::size_t e = gram.begin_of(item); e < gram.end_of(item); ++e) {
      system(positions[static_cast<std::size_t>(gram.cols[e])], a) = gram.values[e];
    }
  }
  const Square inverse = Eigen::LLT<Square>(system).solve(Square::Identity(size, size));
  std::vector<Column> columns(static_cast<std::size_t>(gram.num_items()));
  for (Index b = 0; b < size; ++b) {
    const std::int32_t item = items[static_cast<std::size_t>(b)];
    const double scale = scale_of(gram, item, config);
    for (Index a = 0; a < size; ++a) {
      if (a == b) continue;
      put_weight(columns[static_cast<std::size_t>(item)], items[static_cast<std::size_t>(a)],
                 scale * (-inverse(a, b) / inverse(b, b)), config);
    }
  }
  return columns;
}

std::vector<Column> fit_all(const Gram& gram, const SparseFilterConfig& config,
                            const Executor& executor) {
  return config.neighbors > 0 ? fit_columns(gram, config, executor)
                              : fit_on_all_items(gram, config);
}

// The filter is read by the items of a history, which are its rows.
SparseMatrix<Real> to_rows(std::vector<Column> columns) {
  const std::size_t num_items = columns.size();
  std::vector<std::size_t> next(num_items + 1, 0);
  for (const Column& column : columns) {
    for (const std::int32_t item : column.items) ++next[static_cast<std::size_t>(item) + 1];
  }
  for (std::size_t i = 0; i < num_items; ++i) next[i + 1] += next[i];
  struct Entry {
    std::int32_t col;
    Real weight;
  };
  std::vector<Entry> entries(next.back());
  const std::vector<std::size_t> starts = next;
  for (std::size_t j = 0; j < num_items; ++j) {
    for (std::size_t e = 0; e < columns[j].items.size(); ++e) {
      entries[next[static_cast<std::size_t>(columns[j].items[e])]++] = {
          static_cast<std::int32_t>(j), columns[j].weights[e]};
    }
  }
  columns = {};
  SparseMatrix<Real> filter(static_cast<Index>(num_items), static_cast<Index>(num_items));
  filter.reserve(entries.size());
  for (std::size_t i = 0; i < num_items; ++i) {
    for (std::size_t e = starts[i]; e < starts[i + 1]; ++e) {
      filter.append(static_cast<Index>(i), entries[e].col, entries[e].weight);
    }
  }
  return filter;
}
}  // namespace

SparseMatrix<Real> fit_sparse_filter(const CoOccurrences& sum, double unit,
                                     const SparseFilterConfig& config, const Executor& executor) {
  // G is freed before the filter is made of the columns.
  std::vector<Column> columns = fit_all(expand(sum, unit), config, executor);
  return to_rows(std::move(columns));
}
}  // namespace fedhur::server
