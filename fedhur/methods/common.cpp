#include "fedhur/methods/common.hpp"

#include <algorithm>
#include <cmath>

#include "fedhur/base/random_matrix.hpp"
#include "fedhur/linalg/low_rank.hpp"

namespace fedhur::methods {
namespace {
struct TableNames {
  explicit TableNames(const std::string& stem)
      : whole(stem + "_embeddings"),
        coordinates(stem + "_coordinates"),
        directions(stem + "_directions") {}
  std::string whole;
  std::string coordinates;
  std::string directions;
};
}  // namespace

void read_settings(ConfigTable& table, WireConfig& config) {
  ConfigSection wire(table, "wire");
  wire.read("precision", config.format.precision);
  wire.read("rank", config.rank);
  wire.require(config.rank >= 0, "rank", "a number of 0 or more");
}

message::Message reply_to(const message::Message& request) {
  return {.kind = request.kind, .round = request.round, .arrays = {}};
}

Matrix draw_item_embeddings(const ServerContext& context, Index embedding_dim, Real init_std) {
  return normal_matrix(context.num_items, embedding_dim, init_std,
                       context.rng.stream(Draw::item_init));
}

void send_start(const ServerContext& context, Index embedding_dim, Real init_std,
                federation::Federation& federation) {
  message::Message start{.kind = "start", .round = 0, .arrays = {}};
  start.arrays.set("item_embeddings", draw_item_embeddings(context, embedding_dim, init_std));
  (void)ask_all(federation, std::move(start));
}

void put_loss(message::Message& reply, const client::TrainingLoss& loss) {
  reply.arrays.set_number("loss_sum", loss.sum);
  reply.arrays.set_number("num_samples", loss.num_samples);
}

double mean_loss(const std::vector<federation::Answer>& answers) {
  double sum = 0.0;
  double num_samples = 0.0;
  for (const auto& answer : answers) {
    sum += uploaded(answer, [](const auto& arrays) { return arrays.number("loss_sum"); });
    num_samples +=
        uploaded(answer, [](const auto& arrays) { return arrays.number("num_samples"); });
  }
  return num_samples > 0.0 ? sum / num_samples : 0.0;
}

double read_data_size(const NamedArrays& arrays) {
  constexpr double kLargestCount = 1e15;  // a double still tells it from the next
  const double size = arrays.number("num_interactions");
  if (!(size >= 0.0 && size <= kLargestCount)) {
    throw ProtocolError(fmt::format("'num_interactions' is {}, expected a count", size));
  }
  return size;
}

std::vector<double> data_weights(const std::vector<federation::Answer>& answers) {
  std::vector<double> weights;
  double total = 0.0;
  for (const auto& answer : answers) {
    weights.push_back(uploaded(answer, read_data_size));
    total += weights.back();
  }
  if (!(total > 0.0)) throw ProtocolError("the clients have no training interactions at all");
  for (double& weight : weights) weight /= total;
  return weights;
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

void put_item_embeddings(message::Message& reply, const Shared<Matrix>& embeddings, Index rank,
                         const std::string& stem) {
  const TableNames names(stem);
  const Matrix& E = *embeddings;
  const bool is_smaller = rank < E.cols() && rank * (E.rows() + E.cols()) < E.size();
  if (rank == 0 || !is_smaller || !is_finite(E)) {
    reply.arrays.set(names.whole, Array(embeddings));
    return;
  }
  linalg::LowRank low = linalg::truncate(E, rank);
  reply.arrays.set(names.coordinates, std::move(low.coordinates));
  reply.arrays.set(names.directions, std::move(low.directions));
}

Shared<Matrix> read_item_embeddings(const NamedArrays& arrays, Index num_items, Index embedding_dim,
                                    const std::string& stem) {
  const TableNames names(stem);
  if (!arrays.contains(names.coordinates)) {
    return arrays.shaped_matrix(names.whole, num_items, embedding_dim);
  }
  const Index rank = arrays.matrix(names.coordinates).cols();
  if (rank < 1 || rank >= embedding_dim) {
    throw ProtocolError(fmt::format("'{}' has {} columns, expected 1 to {}", names.coordinates,
                                    rank, embedding_dim - 1));
  }
  return std::make_shared<const Matrix>(
      linalg::expand(*arrays.shaped_matrix(names.coordinates, num_items, rank),
                     *arrays.shaped_matrix(names.directions, rank, embedding_dim)));
}

void require_bounded(const Matrix& upload, std::string_view name) {
  if (is_within(upload, kLargestUpload)) return;
  if (!is_finite(upload)) {
    throw ProtocolError(fmt::format("'{}' holds values that are not finite", name));
  }
  throw ProtocolError(fmt::format("'{}' holds values of magnitude {}, expected at most {}", name,
                                  upload.cwiseAbs().maxCoeff(), kLargestUpload));
}

Shared<Matrix> read_bounded_item_embeddings(const NamedArrays& arrays, Index num_items,
                                            Index embedding_dim, const std::string& stem) {
  Shared<Matrix> embeddings = read_item_embeddings(arrays, num_items, embedding_dim, stem);
  require_bounded(*embeddings, TableNames(stem).whole);
  return embeddings;
}

std::vector<Shared<Matrix>> read_uploads(const std::vector<federation::Answer>& answers,
                                         Index num_items, Index embedding_dim,
                                         const Executor& executor) {
  return collect(answers, executor, [&](const NamedArrays& arrays) {
    return read_bounded_item_embeddings(arrays, num_items, embedding_dim);
  });
}
}  // namespace fedhur::methods
