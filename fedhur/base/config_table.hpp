// Settings as they were given, by dotted key. What may be given is declared in base/settings.
#pragma once
#include <array>
#include <cstdint>
#include <map>
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

// Specialise beside an enum that is a setting: static constexpr std::array of {name, value} pairs
// called `names`.
template <class Enum>
struct EnumNames;

template <class Enum>
[[nodiscard]] std::string name_of(Enum value) {
  for (const auto& [name, candidate] : EnumNames<Enum>::names) {
    if (candidate == value) return std::string(name);
  }
  throw std::logic_error("an enumerator without a name");
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
