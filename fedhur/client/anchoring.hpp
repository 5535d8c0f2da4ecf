// A pull of local training towards a table that the server made.
#pragma once
#include "fedhur/linalg/adam.hpp"

namespace fedhur::client {
// strength * mean of (table - anchor)^2 over all entries: returns it and adds its gradient, which
// reaches every row.
double add_anchor_gradient(const Matrix& table, const Matrix& anchor, Real strength,
                           linalg::RowGradient& gradient);
}  // namespace fedhur::client
