// Settings as they were given, by dotted key. What may be given is declared in base/settings.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fedhur/base/error.hpp"

namespace fedhur {
using ConfigScalar = std::variant<bool, std::int64_t, double, std::string>;
using ConfigValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<ConfigScalar>>;
// As TOML writes it: strings quoted, numbers with the fewest digits that read back exactly.
[[nodiscard]] std::string to_toml(const ConfigValue& value);

// An enum that is a setting has names_of(Enum) beside it: an array of its words, in the order of
// the enumerators, which count from 0.
template <class Enum>
[[nodiscard]] std::string name_of(Enum value) {
  return names_of(value).at(static_cast<std::size_t>(value));
}
// Nothing if it is none of the words.
template <class Enum>
[[nodiscard]] std::optional<Enum> value_named(std::string_view word) {
  const auto names = names_of(Enum{});
  const auto found = std::ranges::find(names, word);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

class ConfigTable {
 public:
  struct Given {
    ConfigValue value;
    std::string origin;
  };

  // `origin` is where the value comes from, for messages: "run.toml:7" or "--set". Later wins.
  void set(const std::string& key, ConfigValue value, const std::string& origin);
  [[nodiscard]] bool contains(const std::string& key) const { return given_.contains(key); }
  [[nodiscard]] const ConfigValue* find(const std::string& key) const;  // null if it is not given
  [[nodiscard]] const std::map<std::string, Given>& given() const { return given_; }

 private:
  std::map<std::string, Given> given_;
};

class Settings;  // base/settings.hpp
}  // namespace fedhur
