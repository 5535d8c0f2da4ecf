// What local training is, whatever the model.
#pragma once
#include <cmath>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/base/ids.hpp"
#include "fedhur/base/matrix.hpp"

namespace fedhur::client {
struct TrainingLoss {
  double sum = 0.0;  // over the samples of all epochs
  double num_samples = 0.0;
};

// The settings that every kind of training has under the same names.
template <class Config>
void read_common_settings(ConfigTable& table, Config& config) {
  ConfigSection model(table, "model");
  model.read("embedding_dim", config.embedding_dim);
  model.require(config.embedding_dim >= 1 && config.embedding_dim <= 4096, "embedding_dim",
                "a number from 1 to 4096");
  model.read("init_std", config.init_std);
  model.require(config.init_std >= 0, "init_std", "a number of 0 or more");
  ConfigSection train(table, "train");
  train.read("learning_rate", config.learning_rate);
  train.require(config.learning_rate > 0, "learning_rate", "a number above 0");
  train.read("learning_rate_decay", config.learning_rate_decay);
  train.require(config.learning_rate_decay > 0 && config.learning_rate_decay <= 1,
                "learning_rate_decay", "a number above 0, at most 1");
  train.read("weight_decay", config.weight_decay);
  train.require(config.weight_decay >= 0, "weight_decay", "a number of 0 or more");
  train.read("batch_size", config.batch_size);
  train.require(config.batch_size >= 1, "batch_size", "a number of 1 or more");
  train.read("local_epochs", config.local_epochs);
  train.require(config.local_epochs >= 1, "local_epochs", "a number of 1 or more");
}

// The learning rate of a round.
template <class Config>
[[nodiscard]] Real rate_in_round(const Config& config, Round round) {
  return static_cast<Real>(
      static_cast<double>(config.learning_rate) *
      std::pow(static_cast<double>(config.learning_rate_decay), static_cast<double>(round)));
}

// How strong a term of the loss is in a round.
enum class Schedule : std::uint8_t {
  tanh,    // from 0 in round 0 towards 1
  fixed,   // 1
  sin,     // around a half
  frac,    // from 1 towards 0
  square,  // 1 and 0 in turns of five rounds
};

[[nodiscard]] inline double strength_in_round(Schedule schedule, Round round) {
  const auto t = static_cast<double>(round);
  switch (schedule) {
    case Schedule::tanh:
      return std::tanh(t / 10.0);
    case Schedule::fixed:
      return 1.0;
    case Schedule::sin:
      return (std::sin(t / 10.0) + 1.0) / 2.0;
    case Schedule::frac:
      return 1.0 / (t + 1.0);
    case Schedule::square:
      return round / 5 % 2 == 0 ? 1.0 : 0.0;
  }
  throw std::logic_error("a schedule without a formula");
}
// Error if the training diverged.
inline void require_finite_loss(const TrainingLoss& loss) {
  if (!std::isfinite(loss.sum)) {
    throw Error(
        "the training diverged (its loss is not finite): try a smaller train.learning_rate");
  }
}
}  // namespace fedhur::client

template <>
struct fedhur::EnumNames<fedhur::client::Schedule> {
  using enum fedhur::client::Schedule;
  static constexpr std::array<std::pair<std::string_view, client::Schedule>, 5> names = {
      {{"tanh", tanh}, {"fixed", fixed}, {"sin", sin}, {"frac", frac}, {"square", square}}};
};
