// Local training on triples: what methods that sample them share, whatever the model.
#pragma once
#include <functional>
#include <span>

#include "fedhur/client/client.hpp"
#include "fedhur/client/training.hpp"
#include "fedhur/model/training_samples.hpp"

namespace fedhur::client {
enum class Resample : std::uint8_t { once, round, epoch };
constexpr auto names_of(Resample) { return std::array{"once", "round", "epoch"}; }

inline void declare_resample(Settings& settings, Resample& resample) {
  settings.add("train.resample", resample,
               "how often the triples are drawn anew; drawn once, they are learned by heart "
               "([decision 4](decisions/0004-default-settings.md))");
}

struct TripleSchedule {
  Index batch_size = 0;
  Index local_epochs = 0;  // passes per round
  Resample resample{};     // how often the samples are drawn anew
  Real rate = 0;           // of learning, in this round
};

// Takes one step on a batch at this learning rate; returns the sum of the batch's losses.
using TripleStep = std::function<double(std::span<const model::Triple> batch, Real rate)>;

// A round of local training; the samples are shuffled every epoch.
TrainingLoss train_on_triples(const TripleSchedule& schedule, const ClientContext& context,
                              Round round, const TripleStep& step);
}  // namespace fedhur::client
