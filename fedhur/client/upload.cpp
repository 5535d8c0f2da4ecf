#include "fedhur/client/upload.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/linalg/low_rank.hpp"
#include "fedhur/message/rounding.hpp"

namespace fedhur::client {
namespace {
Shared<Matrix> round(const Shared<Matrix>& matrix, message::Precision precision) {
  if (!message::is_rounded(*matrix, precision)) return matrix;
  return std::make_shared<const Matrix>(message::round_to(*matrix, precision));
}
}  // namespace

void read_settings(ConfigTable& table, UploadConfig& config) {
  ConfigSection wire(table, "wire");
  wire.read("precision", config.format.precision);
  wire.read("rank", config.rank);
  wire.require(config.rank >= 0, "rank", "a number of 0 or more");
}

void read_noise(ConfigTable& table, UploadConfig& config) {
  ConfigSection noise(table, "noise");
  noise.read("laplace_scale", config.laplace_scale);
  noise.require(config.laplace_scale >= 0 && std::isfinite(config.laplace_scale), "laplace_scale",
                "a number of 0 or more");
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

UploadedTable UploadStage::put(const Shared<Matrix>& table, message::Message& reply,
                               const std::string& stem) const {
  // The published noise lies on the n x n filter; on the table it protects what really leaves.
  const Shared<Matrix> noisy =
      add_laplace_noise(table, config_.laplace_scale, rng_.stream(Draw::noise, id_, reply.round));
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
  uploaded.put(reply, stem);
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
