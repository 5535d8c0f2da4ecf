#include "fedhur/client/upload.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/settings.hpp"
#include "fedhur/linalg/low_rank.hpp"
#include "fedhur/message/rounding.hpp"

namespace fedhur::client {
namespace {
Shared<Matrix> round(const Shared<Matrix>& matrix, message::Precision precision) {
  if (!message::is_rounded(*matrix, precision)) return matrix;
  return std::make_shared<const Matrix>(message::round_to(*matrix, precision));
}
}  // namespace

void declare_settings(Settings& settings, UploadConfig& config) {
  settings.add("wire.precision", config.format.precision,
               "of the float matrices of all messages, both ways: `float32` is exact "
               "([decision 5](decisions/0005-wire-formats.md))");
  settings.add("wire.rank", config.rank, at_least(0),
               "of uploaded tables, of which the best approximation is sent; 0: as they are", "w");
}

void declare_noise(Settings& settings, UploadConfig& config) {
  settings.add("noise.laplace_scale", config.laplace_scale, at_least(0),
               "Laplace noise on every uploaded number, drawn anew each round", "b");
}

void UploadedTable::put(message::Message& reply, const std::string& stem) const {
  const TableNames names(stem);
  if (!directions_) {
    reply.arrays.set(names.whole, Array(whole_));
    return;
  }
  reply.arrays.set(names.coordinates, Array(whole_));
  reply.arrays.set(names.directions, Array(directions_));
}

Shared<Matrix> UploadedTable::matrix() const {
  const Shared<Matrix> whole = round(whole_, precision_);
  if (!directions_) return whole;
  return std::make_shared<const Matrix>(linalg::expand(*whole, *round(directions_, precision_)));
}

UploadedTable UploadStage::prepare(const Shared<Matrix>& table, Round round) const {
  // The published noise lies on the n x n filter; on the table it protects what really leaves.
  const Shared<Matrix> noisy =
      add_laplace_noise(table, config_.laplace_scale, rng_.stream(Draw::noise, id_, round));
  const Index rank = config_.rank;
  const bool is_smaller =
      rank < noisy->cols() && rank * (noisy->rows() + noisy->cols()) < noisy->size();
  UploadedTable uploaded(noisy, config_.format.precision);
  if (rank > 0 && is_smaller && is_finite(*noisy)) {
    linalg::LowRank low = linalg::truncate(*noisy, rank);
    uploaded = {std::make_shared<const Matrix>(std::move(low.coordinates)),
                std::make_shared<const Matrix>(std::move(low.directions)),
                config_.format.precision};
  }
  return uploaded;
}

Shared<Matrix> add_laplace_noise(const Shared<Matrix>& table, Real scale, Rng rng) {
  if (scale == 0.0F) return table;
  Matrix noisy = *table;
  for (Index i = 0; i < noisy.size(); ++i) {
    const double u = rng.uniform() - 0.5;
    // u may be -0.5 itself, the logarithm must not be that of zero.
    const double magnitude = -std::log(std::max(1.0 - 2.0 * std::abs(u), 0x1p-53));
    noisy.data()[i] += scale * static_cast<Real>(u < 0.0 ? -magnitude : magnitude);
  }
  return std::make_shared<const Matrix>(std::move(noisy));
}
}  // namespace fedhur::client
