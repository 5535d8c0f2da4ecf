#include "fedhur/experiment/simulation.hpp"

#include <fmt/format.h>

#include <thread>

#include "fedhur/linalg/blas.hpp"

namespace fedhur::experiment {
Index num_threads(Index wanted) {
  return wanted > 0 ? wanted : std::max<Index>(1, std::thread::hardware_concurrency());
}

namespace {
// Nobody in a federation could know it: it is for reports on a simulation alone.
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
      dataset(std::move(prepared.dataset)),
      train_counts(count_training_rows(dataset, prepared.parts)),
      executor(num_threads(config.threads)) {
  linalg::prepare_blas(executor.num_threads());
  const Rng rng(config.seed);
  std::vector<data::ClientData> client_data =
      data::distribute(dataset, prepared.parts, prepared.user_clients);
  const auto bins = std::make_shared<const evaluate::ItemBins>(evaluate::bin_items(train_counts));
  clients.resize(client_data.size());
  executor.for_each(static_cast<Index>(clients.size()), [&](Index client) {
    data::ClientData& own = client_data[static_cast<std::size_t>(client)];
    auto inner = config.configured_method.make_client({.id = client_id(client),
                                                       .train = own.train,
                                                       .num_items = dataset.num_items(),
                                                       .rng = rng});
    clients[static_cast<std::size_t>(client)] = std::make_unique<evaluate::EvaluatingClient>(
        std::move(inner), std::move(own), config.evaluation.cutoffs, bins);
  });
  if (dump) watcher = make_watcher(*dump);
  server = config.configured_method.make_server({.num_clients = static_cast<Index>(clients.size()),
                                                 .num_items = dataset.num_items(),
                                                 .rng = rng,
                                                 .executor = &executor,
                                                 .watcher = watcher ? &*watcher : nullptr});
}

std::vector<federation::ClientMethod*> Simulation::client_methods() const {
  std::vector<federation::ClientMethod*> methods;
  for (const auto& client : clients) methods.push_back(client.get());
  return methods;
}

Simulation make_simulation(ConfigTable& table, ExperimentConfig config,
                           const std::optional<DumpConfig>& dump) {
  make_paths_absolute(table, config.data);
  PreparedData prepared = prepare_data(config.data, config.seed, table);
  return {std::move(config), std::move(prepared), dump};
}

std::string describe(const Simulation& simulation) {
  return fmt::format("{}: {} users, {} items, {} interactions; {} at {} clients, {} threads",
                     simulation.dataset.name, simulation.dataset.num_users(),
                     simulation.dataset.num_items(), simulation.dataset.interactions.size(),
                     simulation.config.method, simulation.clients.size(),
                     simulation.executor.num_threads());
}
}  // namespace fedhur::experiment
