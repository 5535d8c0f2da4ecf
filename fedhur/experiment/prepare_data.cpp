#include "fedhur/experiment/prepare_data.hpp"

#include "fedhur/data/split_file.hpp"

namespace fedhur::experiment {
data::Dataset load_dataset(const DataConfig& config) {
  data::Dataset dataset = config.path == kSynthetic
                              ? data::make_synthetic(config.synthetic, Rng(config.synthetic_seed))
                              : data::load(config.path, config.load);
  if (!config.split_file.empty()) dataset = data::apply_split_file(dataset, config.split_file);
  return data::filter(std::move(dataset), config.filter);
}

PreparedData prepare_data(DataConfig config, std::uint64_t seed) {
  PreparedData prepared{.dataset = load_dataset(config), .parts = {}, .user_clients = {}};
  if (!prepared.dataset.parts.empty() && !config.says_split) {
    config.split.kind = data::SplitKind::given;
    prepared.decided.emplace_back("split.kind", name_of(config.split.kind));
  }
  if (!prepared.dataset.user_clients.empty() && !config.says_partition) {
    config.partition.kind = data::PartitionKind::given;
    prepared.decided.emplace_back("clients.kind", name_of(config.partition.kind));
  }
  const Rng rng(seed);
  prepared.parts = data::split(prepared.dataset, config.split, rng);
  prepared.user_clients = data::partition(prepared.dataset, config.partition, rng);
  prepared.conflicts =
      data::add_conflicts(prepared.dataset, prepared.user_clients, config.conflict, rng);
  return prepared;
}
}  // namespace fedhur::experiment
