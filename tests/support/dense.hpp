// Small random filters, and the same things written out densely and in double: the twins that fast
// paths are compared with.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "fedhur/linalg/item_filter.hpp"
#include "fedhur/server/global_information.hpp"

namespace fedhur::tests {
using Dense = MatrixOf<double>;

// Arithmetic of the twins. Functions where operators would do: a product of matrices is compiled
// once here instead of once for every expression.
[[nodiscard]] Dense widen(ConstMatrixRef matrix);  // the same numbers in double
[[nodiscard]] Dense product(const Dense& a, const Dense& b);
[[nodiscard]] Dense gram(const Dense& tall);                    // tall tall^T
[[nodiscard]] double distance(const Dense& a, const Dense& b);  // ||a - b||_F

// Largest difference of two tables of one shape, as a share of the largest entry (at least 1).
[[nodiscard]] double difference(const Dense& actual, const Dense& expected);
constexpr double kFloatClose = 2e-5;
void expect_near(const Dense& actual, const Dense& expected, double tolerance);

// As above, for tables of any number type.
template <class A, class B>
void expect_close(const A& actual, const B& expected, double tolerance = kFloatClose) {
  expect_near(actual.template cast<double>(), expected.template cast<double>(), tolerance);
}

[[nodiscard]] Matrix random_symmetric(Index size, std::uint64_t seed);
[[nodiscard]] Matrix random_basis(Index rows, Index cols, std::uint64_t seed);  // orthonormal
[[nodiscard]] server::Uploads random_uploads(Index num_clients, Index num_items, Index dim,
                                             std::uint64_t seed);
// The same items for all clients, with noise of their own: like what training makes of one start.
[[nodiscard]] server::Uploads related_uploads(Index num_clients, Index num_items, Index dim,
                                              std::uint64_t seed);

// Groups of random and uneven sizes, among them groups of one item.
[[nodiscard]] linalg::ItemHierarchy random_hierarchy(Index num_items, Index num_levels,
                                                     bool ends_with_items, std::uint64_t seed);

// An operator with random spectrum and random blocks; no blocks without a hierarchy.
[[nodiscard]] linalg::ItemFilter random_filter(Index num_items, Index rank, std::uint64_t seed);
[[nodiscard]] linalg::ItemFilter random_filter(const linalg::ItemHierarchy& hierarchy, Index rank,
                                               Real block_scale, std::uint64_t seed);

// Map, pair of items by pair of items.
[[nodiscard]] Dense dense_map(const linalg::Scope& scope, ConstMatrixRef block, Index num_items);
[[nodiscard]] Dense dense_filter(const linalg::ItemFilter& filter);
// mean_k E_k E_k^T
[[nodiscard]] Dense dense_global_filter(const server::Uploads& uploads);
// Z of a scope by loops.
[[nodiscard]] Dense dense_group_means(ConstMatrixRef embeddings, const linalg::Scope& scope);
// The nearest positive semidefinite matrix of at most this rank (Eckart-Young).
[[nodiscard]] Dense best_approximation(const Dense& symmetric, Index rank);
}  // namespace fedhur::tests
