#include "fedhur/methods/fedhur_config.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace fedhur::methods {
namespace {
void read_level_weights(ConfigSection& section, std::vector<Real>& level_weights) {
  std::vector<ConfigScalar> list;
  for (const Real weight : level_weights) {
    list.emplace_back(std::stod(fmt::format("{}", weight)));  // 0.3, not what 0.3F is as a double
  }
  section.read("level_weights", list);
  constexpr const char* kExpected = "a list of numbers of 0 or more, such as [0.3, 0.2, 0.1]";
  section.require(!list.empty(), "level_weights", kExpected);
  level_weights.clear();
  for (const ConfigScalar& entry : list) {
    const auto* whole = std::get_if<std::int64_t>(&entry);
    const auto* number = std::get_if<double>(&entry);
    section.require(whole != nullptr || number != nullptr, "level_weights", kExpected);
    const double weight = whole != nullptr ? static_cast<double>(*whole) : *number;
    section.require(weight >= 0.0 && std::isfinite(weight), "level_weights", kExpected);
    level_weights.push_back(static_cast<Real>(weight));
  }
}
}  // namespace

void read_settings(ConfigTable& table, FedHurConfig& config) {
  read_settings(table, config.common);
  ConfigSection relation(table, "relation");
  relation.read("structure", config.structure);
  relation.read("single_weight", config.single_weight);
  relation.require(config.single_weight >= 0 && std::isfinite(config.single_weight),
                   "single_weight", "a number of 0 or more");
  relation.read("decay", config.decay);
  relation.require(config.decay > 0 && config.decay <= 1, "decay", "a number above 0, at most 1");
  server::read_settings(table, config.retrieval);
  server::read_settings(table, config.hierarchy);
  ConfigSection hierarchy(table, "hierarchy");
  read_level_weights(hierarchy, config.level_weights);
  hierarchy.read("coarse", config.coarse);
  client::read_settings(table, config.query);
  server::read_settings(table, config.scorer);
}

FedHurConfig FedHurConfig::in_round(Round round) const {
  FedHurConfig config = *this;
  const auto factor =
      static_cast<Real>(std::pow(static_cast<double>(decay), static_cast<double>(round)));
  for (Real& weight : config.level_weights) weight *= factor;
  config.single_weight *= factor;
  return config;
}
}  // namespace fedhur::methods
