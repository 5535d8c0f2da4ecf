#include "fedhur/experiment/experiment_config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fedhur/base/file.hpp"
#include "fedhur/experiment/toml_value.hpp"

namespace fedhur::experiment {
namespace {
void add_node(ConfigTable& table, const toml::table& node, const std::string& prefix,
              const std::string& name) {
  for (const auto& [part, value] : node) {
    const std::string key = prefix + std::string(part.str());
    if (const auto* nested = value.as_table()) {
      add_node(table, *nested, key + ".", name);
    } else {
      const std::string origin = origin_of(value, name);
      table.set(key, to_value(value, key, origin), origin);
    }
  }
}

void read_load_settings(ConfigSection& data, DataConfig& config) {
  data.read("path", config.path);
  data.require(!config.path.empty(), "path", "a file or 'synthetic'");
  data.read("split_file", config.split_file);
  data.read("format", config.load.format);
  data.read("titles", config.load.titles);
  data.read("user_column", config.load.user_column);
  data.read("item_column", config.load.item_column);
  data.read("rating_column", config.load.rating_column);
  data.read("timestamp_column", config.load.timestamp_column);
  data.read("skip_bad_rows", config.load.skip_bad_rows);
  data.read("min_rating", config.filter.min_rating);
  data.read("min_user_interactions", config.filter.min_user_interactions);
  data.require(config.filter.min_user_interactions >= 1, "min_user_interactions",
               "a number of 1 or more");
  data.read("min_item_interactions", config.filter.min_item_interactions);
  data.require(config.filter.min_item_interactions >= 1, "min_item_interactions",
               "a number of 1 or more");
}

void read_synthetic_settings(ConfigSection& section, DataConfig& config) {
  section.read("seed", config.synthetic_seed);
  section.read("num_users", config.synthetic.num_users);
  section.read("num_items", config.synthetic.num_items);
  section.read("num_interactions", config.synthetic.num_interactions);
  section.read("num_groups", config.synthetic.num_groups);
  section.read("popularity_exponent", config.synthetic.popularity_exponent);
  section.read("affinity", config.synthetic.affinity);
}

void read_stop_settings(ConfigTable& table, StopConfig& config) {
  ConfigSection stop(table, "stop");
  stop.read("max_rounds", config.max_rounds);
  stop.require(config.max_rounds >= 1 && config.max_rounds <= 1'000'000, "max_rounds",
               "a number from 1 to 1000000");
  stop.read("patience", config.patience);
  stop.require(config.patience >= 1, "patience", "a number of 1 or more");
  stop.read("min_rounds", config.min_rounds);
  stop.require(config.min_rounds >= 0, "min_rounds", "a number of 0 or more");
}
}  // namespace

void add_toml_text(ConfigTable& table, const std::string& text, const std::string& name) {
  add_node(table, parse_toml(text, name), "", name);
}

void add_toml_file(ConfigTable& table, const std::filesystem::path& path) {
  try {
    add_toml_text(table, read_text_file(path), path.string());
  } catch (const ConfigError&) {
    throw;
  } catch (const Error& error) {
    throw ConfigError(error.what());
  }
}

void add_assignment(ConfigTable& table, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ConfigError(fmt::format("--set {}: expected key=value", assignment));
  }
  const std::string key = assignment.substr(0, equals);
  const std::string text = assignment.substr(equals + 1);
  try {
    const toml::table parsed = toml::parse("value = " + text);
    if (parsed.size() == 1 && parsed.contains("value")) {
      table.set(key, to_value(*parsed.get("value"), key, "--set"), "--set");
      return;
    }
  } catch (const toml::parse_error&) {
    // Not TOML: an unquoted word or path, taken as it stands.
  }
  table.set(key, text, "--set");
}

DataConfig read_data_config(ConfigTable& table) {
  DataConfig config;
  ConfigSection data(table, "data");
  read_load_settings(data, config);
  if (config.path == kSynthetic) {
    ConfigSection synthetic(table, "synthetic");
    read_synthetic_settings(synthetic, config);
  }
  ConfigSection split(table, "split");
  split.read("kind", config.split.kind);
  split.read("test_fraction", config.split.test_fraction);
  split.require(config.split.test_fraction >= 0 && config.split.test_fraction < 1, "test_fraction",
                "a number of 0 or more, below 1");
  split.read("valid_fraction", config.split.valid_fraction);
  split.require(config.split.valid_fraction >= 0 && config.split.valid_fraction < 1,
                "valid_fraction", "a number of 0 or more, below 1");
  ConfigSection clients(table, "clients");
  clients.read("kind", config.partition.kind);
  clients.read("count", config.partition.num_clients);
  clients.require(config.partition.num_clients >= 1, "count", "a number of 1 or more");
  clients.read("concentration", config.partition.concentration);
  clients.require(config.partition.concentration > 0, "concentration", "a number above 0");
  clients.read("num_tastes", config.partition.num_tastes);
  clients.require(config.partition.num_tastes >= 1, "num_tastes", "a number of 1 or more");
  return config;
}

ExperimentConfig read_experiment_config(ConfigTable& table) {
  ExperimentConfig config;
  table.read("method", config.method);
  table.read("seed", config.seed);
  table.read("threads", config.threads);
  if (config.threads < 0 || config.threads > 1024) {
    throw ConfigError(table.describe("threads") + ": expected a number from 0 to 1024");
  }
  const methods::Method method = methods::find_method(config.method);
  config.data = read_data_config(table);
  config.configured_method = method.configure(table);
  client::read_settings(table, config.wire);
  evaluate::read_settings(table, config.evaluation);
  read_stop_settings(table, config.stop);
  ConfigSection checkpoint(table, "checkpoint");
  checkpoint.read("every", config.checkpoint.every);
  checkpoint.require(config.checkpoint.every >= 0, "every", "a number of 0 or more");
  if (table.contains("federation.clients")) {
    config.federation.emplace();
    read_settings(table, *config.federation);
  }
  config.dropout = read_dropout(table);
  table.reject_unread();
  return config;
}

void make_paths_absolute(ConfigTable& table, DataConfig& config) {
  const auto make_absolute = [&table](const std::string& key, std::string& path) {
    if (path.empty() || path == kSynthetic) return;
    table.set(key, std::filesystem::absolute(path).lexically_normal().string(), "the run");
    table.read(key, path);
  };
  make_absolute("data.path", config.path);
  make_absolute("data.split_file", config.split_file);
}

bool changes_results(const std::string& key) {
  return key != "threads" && key != "checkpoint.every";
}

std::string to_toml(const ConfigTable& table) {
  std::string top;
  std::vector<std::pair<std::string, std::string>> sections;  // in order of first reading
  for (const ConfigTable::Entry& entry : table.resolved()) {
    const std::size_t dot = entry.key.find('.');
    if (dot == std::string::npos) {
      top += fmt::format("{} = {}\n", entry.key, fedhur::to_toml(entry.value));
      continue;
    }
    const std::string name = entry.key.substr(0, dot);
    auto section = std::find_if(sections.begin(), sections.end(),
                                [&](const auto& known) { return known.first == name; });
    if (section == sections.end()) section = sections.insert(sections.end(), {name, {}});
    section->second +=
        fmt::format("{} = {}\n", entry.key.substr(dot + 1), fedhur::to_toml(entry.value));
  }
  for (const auto& [name, lines] : sections) top += fmt::format("\n[{}]\n{}", name, lines);
  return top;
}
}  // namespace fedhur::experiment
