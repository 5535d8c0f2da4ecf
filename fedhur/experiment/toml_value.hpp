// What a TOML file says, as the value of a setting. For the sources that parse TOML themselves.
#pragma once
#include <toml++/toml.h>

#include <string>

#include "fedhur/base/config_table.hpp"

namespace fedhur::experiment {
// ConfigError "file:line: ..." if it is not TOML.
[[nodiscard]] toml::table parse_toml(const std::string& text, const std::string& name);
[[nodiscard]] std::string origin_of(const toml::node& node, const std::string& name);  // "file:7"
// ConfigError, with key and origin, for what no setting is: a table, a date, a list of lists.
[[nodiscard]] ConfigValue to_value(const toml::node& node, const std::string& key,
                                   const std::string& origin);
}  // namespace fedhur::experiment
