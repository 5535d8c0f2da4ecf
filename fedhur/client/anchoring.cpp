#include "fedhur/client/anchoring.hpp"

#include "fedhur/base/error.hpp"

namespace fedhur::client {
double add_anchor_gradient(const Matrix& table, const Matrix& anchor, Real strength,
                           linalg::RowGradient& gradient) {
  expects(table.rows() == anchor.rows() && table.cols() == anchor.cols(),
          "the anchor has the shape of the table");
  if (strength == 0.0F) return 0.0;
  const double scale = static_cast<double>(strength) / static_cast<double>(table.size());
  const Matrix distance = table - anchor;
  gradient.add(static_cast<Real>(2.0 * scale) * distance);
  return scale * distance.cast<double>().squaredNorm();
}
}  // namespace fedhur::client
