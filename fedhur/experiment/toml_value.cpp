#include "fedhur/experiment/toml_value.hpp"

#include <fmt/format.h>

#include <optional>

namespace fedhur::experiment {
namespace {
std::optional<ConfigScalar> to_scalar(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return ConfigScalar(flag->get());
  if (const auto* whole = node.as_integer()) return ConfigScalar(whole->get());
  if (const auto* number = node.as_floating_point()) return ConfigScalar(number->get());
  if (const auto* text = node.as_string()) return ConfigScalar(text->get());
  return std::nullopt;
}
}  // namespace

toml::table parse_toml(const std::string& text, const std::string& name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw ConfigError(fmt::format("{}:{}: {}", name, error.source().begin.line,
                                  std::string(error.description())));
  }
}

std::string origin_of(const toml::node& node, const std::string& name) {
  return fmt::format("{}:{}", name, node.source().begin.line);
}

ConfigValue to_value(const toml::node& node, const std::string& key, const std::string& origin) {
  if (const auto scalar = to_scalar(node)) {
    return std::visit([](const auto& value) { return ConfigValue(value); }, *scalar);
  }
  if (const auto* array = node.as_array()) {
    std::vector<ConfigScalar> list;
    for (const toml::node& element : *array) {
      const auto scalar = to_scalar(element);
      if (!scalar) {
        throw ConfigError(fmt::format(
            "{}: {} is a list of something other than numbers and strings", origin, key));
      }
      list.push_back(*scalar);
    }
    return list;
  }
  throw ConfigError(
      fmt::format("{}: {} is neither a number, a string, true, false nor a list of "
                  "these",
                  origin, key));
}
}  // namespace fedhur::experiment
