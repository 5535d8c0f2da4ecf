#include "fedhur/experiment/simulation.hpp"

#include <fmt/format.h>

namespace fedhur::experiment {
namespace {
// Not known to any member of a federation: for the reports of simulations only.
std::vector<Index> count_training_rows(const data::Dataset& dataset,
                                       const std::vector<data::Part>& parts) {
  std::vector<Index> counts(dataset.item_names.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] != data::Part::train) continue;
    ++counts[static_cast<std::size_t>(dataset.interactions[i].item)];
  }
  return counts;
}
}  // namespace

Simulation::Simulation(ExperimentConfig experiment_config, PreparedData prepared,
                       const std::optional<DumpConfig>& dump_config)
    : config(std::move(experiment_config)),
      dump(dump_config),
      decided(std::move(prepared.decided)),
      dataset(std::move(prepared.dataset)),
      train_counts(count_training_rows(dataset, prepared.parts)),
      executor(make_executor(config.threads)),
      party(config, data::distribute(dataset, prepared.parts, prepared.user_clients),
            dataset.num_items(), executor, {},
            std::make_shared<const evaluate::ItemBins>(evaluate::bin_items(train_counts))) {
  if (dump) watcher = make_watcher(*dump, config, num_clients());
  server = make_server(config, num_clients(), dataset.num_items(), executor,
                       watcher ? &*watcher : nullptr);
}

transport::InProcessFederation Simulation::connect() const {
  return {party.methods(), executor, config.wire.format};
}

Simulation make_simulation(ExperimentConfig config, const std::optional<DumpConfig>& dump) {
  PreparedData prepared = prepare_data(config.data, config.seed);
  return {std::move(config), std::move(prepared), dump};
}

std::string describe(const Simulation& simulation) {
  return fmt::format("{}: {} users, {} items, {} interactions; {} at {} clients, {} threads",
                     simulation.dataset.name, simulation.dataset.num_users(),
                     simulation.dataset.num_items(), simulation.dataset.interactions.size(),
                     simulation.config.method, simulation.party.size(),
                     simulation.executor.num_threads());
}
}  // namespace fedhur::experiment
