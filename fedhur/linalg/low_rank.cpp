#include "fedhur/linalg/low_rank.hpp"

#include <algorithm>

#include "fedhur/base/error.hpp"
#include "fedhur/linalg/symmetric.hpp"

namespace fedhur::linalg {
namespace {
// E^T E. By blocks, so that no copy of the whole table in double is needed.
MatrixOf<double> gram_matrix(ConstMatrixRef tall) {
  constexpr Index kRowsPerBlock = 1024;
  MatrixOf<double> gram = MatrixOf<double>::Zero(tall.cols(), tall.cols());
  for (Index first = 0; first < tall.rows(); first += kRowsPerBlock) {
    const Index count = std::min(kRowsPerBlock, tall.rows() - first);
    const MatrixOf<double> block = tall.middleRows(first, count).cast<double>();
    gram.noalias() += block.transpose() * block;
  }
  return gram;
}
}  // namespace

LowRank truncate(ConstMatrixRef tall, Index rank) {
  expects(rank >= 1 && rank <= tall.cols(), "a rank is at least 1 and at most the columns");
  const EigenPairs pairs = eigen_pairs(gram_matrix(tall));
  LowRank low;
  low.directions = pairs.vectors.leftCols(rank).transpose().cast<Real>();
  low.coordinates.noalias() = tall * low.directions.transpose();
  return low;
}

Matrix expand(ConstMatrixRef coordinates, ConstMatrixRef directions) {
  expects(coordinates.cols() == directions.rows(), "coordinates belong to directions");
  return coordinates * directions;
}
}  // namespace fedhur::linalg
