// How often a client's users have two items together: what the sparse item filter is fitted to.
#pragma once
#include <cstdint>

#include "fedhur/base/ids.hpp"
#include "fedhur/base/random.hpp"
#include "fedhur/base/sparse_matrix.hpp"
#include "fedhur/data/interactions.hpp"

namespace fedhur::client {
// What a user counts for at most: the weights are whole multiples of 2^-20, so that a sum of them
// is the same in any order.
inline constexpr std::int64_t kWholeUser = std::int64_t{1} << 20U;

// kWholeUser * num_items^-activity_exponent, rounded: users with many items would rule the sums.
[[nodiscard]] std::int64_t user_weight(std::size_t num_items, double activity_exponent);

// Of every user with more than `most_items` so many that are drawn; 0: all.
[[nodiscard]] data::UserItems draw_items(const data::UserItems& users, Index most_items,
                                         ClientId client, const Rng& rng);

// Entry (i, j), i <= j, is the sum of the weights of the users who have both.
[[nodiscard]] SparseMatrix<std::int64_t> count_co_occurrences(const data::UserItems& users,
                                                              Index num_items,
                                                              double activity_exponent);
}  // namespace fedhur::client
