#include "fedhur/experiment/prepare_data.hpp"

#include "fedhur/data/split_file.hpp"

namespace fedhur::experiment {
namespace {
// What the file itself says is the default, and becomes part of the resolved configuration.
template <class Kind>
void default_to_given(ConfigTable& table, const std::string& key, bool is_given, Kind& kind) {
  if (!is_given || table.contains(key)) return;
  table.set(key, std::string("given"), "the data file");
  table.read(key, kind);
}
}  // namespace

data::Dataset load_dataset(const DataConfig& config) {
  data::Dataset dataset = config.path == kSynthetic
                              ? data::make_synthetic(config.synthetic, Rng(config.synthetic_seed))
                              : data::load(config.path, config.load);
  if (!config.split_file.empty()) dataset = data::apply_split_file(dataset, config.split_file);
  return data::filter(std::move(dataset), config.filter);
}

PreparedData prepare_data(DataConfig config, std::uint64_t seed, ConfigTable& table) {
  PreparedData prepared{.dataset = load_dataset(config), .parts = {}, .user_clients = {}};
  default_to_given(table, "split.kind", !prepared.dataset.parts.empty(), config.split.kind);
  default_to_given(table, "clients.kind", !prepared.dataset.user_clients.empty(),
                   config.partition.kind);
  const Rng rng(seed);
  prepared.parts = data::split(prepared.dataset, config.split, rng);
  prepared.user_clients = data::partition(prepared.dataset, config.partition, rng);
  return prepared;
}
}  // namespace fedhur::experiment
