// The one stage between a trained table and what leaves of it: noise, low rank, rounding.
#pragma once
#include <string>

#include "fedhur/client/client.hpp"
#include "fedhur/message/wire_format.hpp"

namespace fedhur::client {
struct UploadConfig {
  message::WireFormat format;  // of the wire, which rounds what is sent
  Index rank = 0;              // w
  Real laplace_scale = 0.0F;   // b
};
void declare_settings(Settings& settings, UploadConfig& config);
// For methods that know noise.
void declare_noise(Settings& settings, UploadConfig& config);

// How a table is called in a message: whole, or as two factors of a lower rank.
struct TableNames {
  explicit TableNames(const std::string& stem)
      : whole(stem + "_embeddings"),
        coordinates(stem + "_coordinates"),
        directions(stem + "_directions") {}
  std::string whole;
  std::string coordinates;
  std::string directions;
};

// What leaves of a table. It shares its memory with the message.
class UploadedTable {
 public:
  UploadedTable(Shared<Matrix> whole, message::Precision precision)
      : whole_(std::move(whole)), precision_(precision) {}
  UploadedTable(Shared<Matrix> coordinates, Shared<Matrix> directions, message::Precision precision)
      : whole_(std::move(coordinates)), directions_(std::move(directions)), precision_(precision) {}
  void put(message::Message& reply, const std::string& stem = "item") const;
  // As the server reads it.
  [[nodiscard]] Shared<Matrix> matrix() const;

 private:
  Shared<Matrix> whole_;       // or the coordinates, where there are directions
  Shared<Matrix> directions_;  // null where the table left whole
  message::Precision precision_;
};

class UploadStage {
 public:
  UploadStage(const UploadConfig& config, const ClientContext& context)
      : config_(config), rng_(context.rng), id_(context.id) {}
  // What leaves of a table in this round: its best approximation of the rank, or all of it if that
  // takes no more numbers or if it is not finite (the server will say so).
  [[nodiscard]] UploadedTable prepare(const Shared<Matrix>& table, Round round) const;

 private:
  UploadConfig config_;
  Rng rng_;
  ClientId id_;
};

// A table with Laplace noise of this scale on every number; the same table if the scale is 0.
[[nodiscard]] Shared<Matrix> add_laplace_noise(const Shared<Matrix>& table, Real scale, Rng rng);
}  // namespace fedhur::client
