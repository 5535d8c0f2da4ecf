// k-means over the rows of a table.
#pragma once
#include <vector>

#include "fedhur/base/matrix.hpp"
#include "fedhur/base/random.hpp"

namespace fedhur::linalg {
// The group of every row, from 0 to num_groups - 1. k-means++ start, then Lloyd's steps until
// nothing moves, at most `max_steps`. Ties go to the lower group; a group that loses its last row
// takes the one farthest from its centre, so that none is empty. 1 <= num_groups <= rows.
[[nodiscard]] std::vector<Index> group_rows(ConstMatrixRef rows, Index num_groups, Index max_steps,
                                            Rng rng);
}  // namespace fedhur::linalg
