#include "fedhur/study/playing.hpp"

namespace fedhur::study {
using experiment::Simulation;

Simulation simulate(ConfigTable table, const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    experiment::add_assignment(table, assignment);
  }
  experiment::ExperimentConfig config = experiment::resolve(table).config;
  if (config.dropout > 0) {
    throw ConfigError(
        "federation.dropout: this study plays its rounds with all clients; leave it out");
  }
  return experiment::make_simulation(std::move(config));
}

void replace_server(Simulation& simulation, const experiment::ExperimentConfig& config,
                    const methods::RoundWatcher* watcher) {
  simulation.server =
      experiment::make_server(config, simulation.num_clients(), simulation.dataset.num_items(),
                              simulation.executor, watcher);
}

void play(Simulation& simulation, Round round) {
  transport::InProcessFederation federation = simulation.connect();
  (void)simulation.server->run_round(round, federation);
}

State save(const Simulation& simulation) {
  ByteWriter writer;
  encode(simulation.server->save(), writer);
  simulation.party.save(writer);
  return writer.finish();
}

void restore(const State& state, Simulation& simulation) {
  ByteReader reader(state);
  simulation.server->restore(decode_arrays(reader));
  simulation.party.restore(reader);
}
}  // namespace fedhur::study
