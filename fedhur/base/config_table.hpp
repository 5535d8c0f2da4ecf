// Settings by dotted key. Readers take what they know; a key that nobody read is an error. What was
// read, with its final value, is the resolved configuration of a run.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "fedhur/base/error.hpp"

namespace fedhur {
using ConfigScalar = std::variant<bool, std::int64_t, double, std::string>;
using ConfigValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<ConfigScalar>>;

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
  struct Entry {
    std::string key;
    ConfigValue value;
  };

  // `origin` is where the value comes from, for messages: "run.toml:7" or "--set". Later wins.
  void set(const std::string& key, ConfigValue value, const std::string& origin);
  [[nodiscard]] bool contains(const std::string& key) const { return given_.contains(key); }

  // Replaces `value` by the given one, if any; notes key and outcome either way.
  void read(const std::string& key, bool& value);
  void read(const std::string& key, double& value);
  void read(const std::string& key, float& value);
  void read(const std::string& key, std::string& value);
  void read(const std::string& key, std::vector<ConfigScalar>& value);
  template <class Int>
  requires(std::is_integral_v<Int> && !std::is_same_v<Int, bool>) void read(const std::string& key,
                                                                            Int& value) {
    value = static_cast<Int>(read_integer(key, static_cast<std::int64_t>(value),
                                          std::is_unsigned_v<Int> ? 0 : INT64_MIN));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void read(const std::string& key, Enum& value) {
    std::vector<std::string> known;
    for (const auto& [name, candidate] : EnumNames<Enum>::names) known.emplace_back(name);
    const std::string chosen = read_choice(key, name_of(value), known);
    for (const auto& [name, candidate] : EnumNames<Enum>::names) {
      if (chosen == name) value = candidate;
    }
  }

  // ConfigError that names the first key nobody read, where it was set, and the nearest known key.
  void reject_unread() const;
  // "key = value (from origin)", to begin an error about a value that was read but is not allowed.
  [[nodiscard]] std::string describe(const std::string& key) const;
  // Everything that was read, in order of reading.
  [[nodiscard]] const std::vector<Entry>& resolved() const { return resolved_; }

 private:
  struct Given {
    ConfigValue value;
    std::string origin;
  };
  [[nodiscard]] const Given* find(const std::string& key) const;
  void note(const std::string& key, ConfigValue value);
  [[nodiscard]] std::int64_t read_integer(const std::string& key, std::int64_t fallback,
                                          std::int64_t least);
  [[nodiscard]] std::string read_choice(const std::string& key, const std::string& fallback,
                                        const std::vector<std::string>& known);
  std::map<std::string, Given> given_;
  std::vector<Entry> resolved_;
};

// A part of a table: section.read("lr", x) reads "train.lr".
class ConfigSection {
 public:
  ConfigSection(ConfigTable& table, std::string name) : table_(&table), name_(std::move(name)) {}
  template <class T>
  void read(const std::string& key, T& value) {
    table_->read(full(key), value);
  }
  // Throws ConfigError "train.lr = -1 (from --set): expected a number above 0" unless `allowed`.
  void require(bool allowed, const std::string& key, std::string_view expected) const;

 private:
  [[nodiscard]] std::string full(const std::string& key) const {
    return name_.empty() ? key : name_ + "." + key;
  }
  ConfigTable* table_;
  std::string name_;
};

// As TOML writes it: strings quoted, numbers with the fewest digits that read back exactly.
[[nodiscard]] std::string to_toml(const ConfigValue& value);
}  // namespace fedhur
