#include "fedhur/study/playing.hpp"

#include "fedhur/transport/in_process/in_process_federation.hpp"

namespace fedhur::study {
using experiment::Simulation;

Simulation simulate(ConfigTable table, const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    experiment::add_assignment(table, assignment);
  }
  experiment::ExperimentConfig config = experiment::read_experiment_config(table);
  return experiment::make_simulation(table, std::move(config), std::nullopt);
}

void replace_server(Simulation& simulation, const methods::ConfiguredMethod& method,
                    const methods::RoundWatcher* watcher) {
  simulation.server =
      method.make_server({.num_clients = static_cast<Index>(simulation.clients.size()),
                          .num_items = simulation.dataset.num_items(),
                          .rng = Rng(simulation.config.seed),
                          .executor = &simulation.executor,
                          .watcher = watcher});
}

void play(Simulation& simulation, Round round) {
  transport::InProcessFederation federation(simulation.client_methods(), simulation.executor,
                                            simulation.config.wire.format);
  (void)simulation.server->run_round(round, federation);
}

State save(const Simulation& simulation) {
  State state{.server = simulation.server->save(), .clients = {}};
  for (const auto& client : simulation.clients) state.clients.push_back(client->inner().save());
  return state;
}

void restore(const State& state, Simulation& simulation) {
  simulation.server->restore(state.server);
  for (std::size_t k = 0; k < state.clients.size(); ++k) {
    simulation.clients[k]->inner().restore(state.clients[k]);
  }
}
}  // namespace fedhur::study
