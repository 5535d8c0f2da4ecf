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

void declare_settings(Settings& settings, DataConfig& config) {
  const std::string path = "a file or 'synthetic'";
  settings.add("data.path", config.path, "file with interactions; `synthetic` is built in", path);
  settings.require(!config.path.empty(), "data.path", path);
  settings.add("data.split_file", config.split_file,
               "parts and clients for the rows of `data.path`, in the format `split`", "a file");
  declare_settings(settings, config.load);
  declare_settings(settings, config.filter);
  if (config.path == kSynthetic) {
    settings.add("synthetic.seed", config.synthetic_seed, at_least(0),
                 "its own, so that runs with other seeds see the same data");
    declare_settings(settings, config.synthetic);
  }
  config.says_split = settings.given().contains("split.kind");
  config.says_partition = settings.given().contains("clients.kind");
  declare_settings(settings, config.split);
  declare_settings(settings, config.partition);
  declare_settings(settings, config.conflict);
  settings.require(config.conflict.share == 0 || !settings.given().contains("federation.clients"),
                   "conflict.clients", "0 for a server: conflicts are made in simulations");
}

void declare_settings(Settings& settings, StopConfig& config) {
  settings.add("stop.max_rounds", config.max_rounds, between(1, 1'000'000),
               "the last round at the latest");
  settings.add("stop.patience", config.patience, at_least(1),
               "rounds without a better validation score before it stops");
  settings.add("stop.min_rounds", config.min_rounds, at_least(0), "never stops before");
}

void declare_settings(Settings& settings, CheckpointConfig& config) {
  settings.add("checkpoint.every", config.every, at_least(0),
               "rounds between checkpoints; 0: whenever that costs less than a twentieth of the "
               "time since the last. A resumed run repeats the rounds after its checkpoint, bit "
               "for bit ([decision 1](decisions/0001-checkpoints-by-cost.md))");
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

DataConfig read_data_config(const ConfigTable& table) {
  Settings settings(table);
  DataConfig config;
  declare_settings(settings, config);
  return config;
}

ResolvedConfig resolve(const ConfigTable& table) {
  Settings settings(table);
  ExperimentConfig config;
  settings.add("method", config.method, "see [methods](methods.md)", "a method");
  settings.add("seed", config.seed, at_least(0), "of all random numbers");
  settings.add("threads", config.threads, between(0, 1024),
               "0: one per core; the result does not depend on it");
  const methods::Method method = methods::find_method(config.method);
  declare_settings(settings, config.data);
  config.configured_method = method.configure(settings);
  client::declare_settings(settings, config.wire);
  evaluate::declare_settings(settings, config.evaluation);
  declare_settings(settings, config.stop);
  declare_settings(settings, config.checkpoint);
  if (table.contains("federation.clients")) {
    declare_settings(settings, config.federation.emplace());
  }
  declare_dropout(settings, config.dropout);
  settings.reject_unknown();
  return {.config = std::move(config), .settings = settings.declared()};
}

void require_network(const ExperimentConfig& config) {
  const std::string& refusal = config.configured_method.network_refusal;
  if (!refusal.empty()) throw ConfigError(refusal);
}

ConfigTable with_absolute_paths(ConfigTable table) {
  for (const char* const key : {"data.path", "data.split_file", "federation.items"}) {
    const ConfigValue* value = table.find(key);
    const auto* path = value != nullptr ? std::get_if<std::string>(value) : nullptr;
    if (path == nullptr || path->empty() || *path == kSynthetic) continue;
    table.set(key, std::filesystem::absolute(*path).lexically_normal().string(), "the run");
  }
  return table;
}

bool changes_results(const std::string& key) {
  return key != "threads" && key != "checkpoint.every";
}

std::string to_toml(const std::vector<Setting>& settings) {
  std::string top;
  std::vector<std::pair<std::string, std::string>> sections;  // in order of first declaration
  for (const Setting& entry : settings) {
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
