#include "fedhur/client/triple_training.hpp"

#include <algorithm>

namespace fedhur::client {
namespace {
using model::Triple;

std::vector<Triple> draw(Resample resample, const ClientContext& context, Round round,
                         Index epoch) {
  // A set that lasts is drawn from the same stream again, so that there is nothing to save.
  const Round round_key = resample == Resample::once ? 0 : round + 1;
  const Index epoch_key = resample == Resample::epoch ? epoch + 1 : 0;
  return model::draw_triples(context.train, context.num_items,
                             context.rng.stream(Draw::triples, context.id, round_key, epoch_key));
}
}  // namespace

TrainingLoss train_on_triples(const TripleSchedule& schedule, const ClientContext& context,
                              Round round, const TripleStep& step) {
  const auto batch_size = static_cast<std::size_t>(schedule.batch_size);
  TrainingLoss total;
  std::vector<Triple> triples;
  for (Index epoch = 0; epoch < schedule.local_epochs; ++epoch) {
    if (epoch == 0 || schedule.resample == Resample::epoch) {
      triples = draw(schedule.resample, context, round, epoch);
    }
    if (triples.size() > batch_size) {  // the order within a single batch does not matter
      context.rng.stream(Draw::batch_order, context.id, round, epoch)
          .shuffle(std::span<Triple>(triples));
    }
    double sum = 0.0;
    for (std::size_t first = 0; first < triples.size(); first += batch_size) {
      sum += step(std::span<const Triple>(triples).subspan(
                      first, std::min(batch_size, triples.size() - first)),
                  schedule.rate);
    }
    total.sum += sum;
    total.num_samples += static_cast<double>(triples.size());
  }
  require_finite_loss(total);
  return total;
}
}  // namespace fedhur::client
