// What local training is, whatever the model.
#pragma once
#include <cmath>

#include "fedhur/base/error.hpp"
#include "fedhur/base/ids.hpp"
#include "fedhur/base/matrix.hpp"
#include "fedhur/base/settings.hpp"

namespace fedhur::client {
struct TrainingLoss {
  double sum = 0.0;  // over the samples of all epochs
  double num_samples = 0.0;
};

// The settings that every kind of training has under the same names.
template <class Config>
void declare_common_settings(Settings& settings, Config& config) {
  settings.add("model.embedding_dim", config.embedding_dim, between(1, 4096),
               "width of the embeddings; memory, traffic and time grow with it", "d");
  settings.add("model.init_std", config.init_std, at_least(0),
               "standard deviation of the initial entries of embeddings");
  settings.add("train.learning_rate", config.learning_rate, above(0),
               "learning rate of the first round");
  settings.add("train.learning_rate_decay", config.learning_rate_decay, above_to(0, 1),
               "factor on the learning rate per round; 1 is off");
  settings.add("train.weight_decay", config.weight_decay, at_least(0),
               "on triples in the loss, on the rows of the batch; with networks and on pairs in "
               "the gradient of every parameter, in every step");
  settings.add("train.batch_size", config.batch_size, at_least(1),
               "samples per step: triples or labelled pairs");
  settings.add("train.local_epochs", config.local_epochs, at_least(1),
               "passes over the samples per round, at most");
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
constexpr auto names_of(Schedule) { return std::array{"tanh", "fixed", "sin", "frac", "square"}; }

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
