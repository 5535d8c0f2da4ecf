#include "fedhur/methods/common.hpp"

#include "fedhur/linalg/low_rank.hpp"

namespace fedhur::methods {
namespace {
constexpr const char* kWhole = "item_embeddings";
constexpr const char* kCoordinates = "item_coordinates";
constexpr const char* kDirections = "item_directions";
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

void put_item_embeddings(message::Message& reply, const Shared<Matrix>& embeddings, Index rank) {
  const Matrix& E = *embeddings;
  const bool is_smaller = rank < E.cols() && rank * (E.rows() + E.cols()) < E.size();
  if (rank == 0 || !is_smaller || !is_finite(E)) {
    reply.arrays.set(kWhole, Array(embeddings));
    return;
  }
  linalg::LowRank low = linalg::truncate(E, rank);
  reply.arrays.set(kCoordinates, std::move(low.coordinates));
  reply.arrays.set(kDirections, std::move(low.directions));
}

Shared<Matrix> read_item_embeddings(const NamedArrays& arrays, Index num_items,
                                    Index embedding_dim) {
  if (!arrays.contains(kCoordinates)) {
    return arrays.shaped_matrix(kWhole, num_items, embedding_dim);
  }
  const Index rank = arrays.matrix(kCoordinates).cols();
  if (rank < 1 || rank >= embedding_dim) {
    throw ProtocolError(fmt::format("'{}' has {} columns, expected 1 to {}", kCoordinates, rank,
                                    embedding_dim - 1));
  }
  return std::make_shared<const Matrix>(
      linalg::expand(*arrays.shaped_matrix(kCoordinates, num_items, rank),
                     *arrays.shaped_matrix(kDirections, rank, embedding_dim)));
}

Shared<Matrix> read_finite_item_embeddings(const NamedArrays& arrays, Index num_items,
                                           Index embedding_dim) {
  Shared<Matrix> embeddings = read_item_embeddings(arrays, num_items, embedding_dim);
  if (!is_finite(*embeddings)) {
    throw ProtocolError(fmt::format("'{}' holds values that are not finite", kWhole));
  }
  return embeddings;
}
}  // namespace fedhur::methods
