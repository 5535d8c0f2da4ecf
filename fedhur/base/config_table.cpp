#include "fedhur/base/config_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fedhur/base/nearest_name.hpp"

namespace fedhur {
namespace {
std::string scalar_to_toml(const ConfigScalar& value) {
  struct Visitor {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const {
      const std::string text = fmt::format("{}", number);
      return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
    }
    std::string operator()(const std::string& text) const {
      std::string quoted = "\"";
      for (const char c : text) {
        if (c == '"' || c == '\\') {
          quoted += '\\';
          quoted += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          quoted += c;
        }
      }
      return quoted + '"';
    }
  };
  return std::visit(Visitor{}, value);
}

// A float setting shown as the shortest decimal of that float, not of its double neighbour.
double shortest_double(float value) { return std::stod(fmt::format("{}", value)); }
}  // namespace

std::string to_toml(const ConfigValue& value) {
  if (const auto* list = std::get_if<std::vector<ConfigScalar>>(&value)) {
    std::vector<std::string> parts;
    std::transform(list->begin(), list->end(), std::back_inserter(parts), scalar_to_toml);
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  return std::visit(
      [](const auto& scalar) -> std::string {
        if constexpr (std::is_constructible_v<ConfigScalar, decltype(scalar)>) {
          return scalar_to_toml(ConfigScalar(scalar));
        } else {
          return {};
        }
      },
      value);
}

void ConfigTable::set(const std::string& key, ConfigValue value, const std::string& origin) {
  given_.insert_or_assign(key, Given{std::move(value), origin});
}

const ConfigTable::Given* ConfigTable::find(const std::string& key) const {
  const auto found = given_.find(key);
  return found == given_.end() ? nullptr : &found->second;
}

void ConfigTable::note(const std::string& key, ConfigValue value) {
  const auto known = std::find_if(resolved_.begin(), resolved_.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  if (known != resolved_.end()) {
    known->value = std::move(value);
  } else {
    resolved_.push_back({key, std::move(value)});
  }
}

std::string ConfigTable::describe(const std::string& key) const {
  if (const Given* given = find(key)) {
    return fmt::format("{} = {} (from {})", key, to_toml(given->value), given->origin);
  }
  return key;
}

void ConfigTable::read(const std::string& key, bool& value) {
  if (const Given* given = find(key)) {
    const bool* flag = std::get_if<bool>(&given->value);
    if (flag == nullptr) throw ConfigError(describe(key) + ": expected true or false");
    value = *flag;
  }
  note(key, value);
}

void ConfigTable::read(const std::string& key, double& value) {
  if (const Given* given = find(key)) {
    if (const double* number = std::get_if<double>(&given->value)) {
      value = *number;
    } else if (const std::int64_t* whole = std::get_if<std::int64_t>(&given->value)) {
      value = static_cast<double>(*whole);
    } else {
      throw ConfigError(describe(key) + ": expected a number");
    }
    if (!std::isfinite(value)) throw ConfigError(describe(key) + ": expected a finite number");
  }
  note(key, value);
}

void ConfigTable::read(const std::string& key, float& value) {
  double number = shortest_double(value);
  read(key, number);
  if (std::abs(number) > static_cast<double>(std::numeric_limits<float>::max())) {
    throw ConfigError(describe(key) + ": expected a number that fits a float");
  }
  value = static_cast<float>(number);
}

void ConfigTable::read(const std::string& key, std::string& value) {
  if (const Given* given = find(key)) {
    const auto* text = std::get_if<std::string>(&given->value);
    if (text == nullptr) throw ConfigError(describe(key) + ": expected a string");
    value = *text;
  }
  note(key, value);
}

void ConfigTable::read(const std::string& key, std::vector<ConfigScalar>& value) {
  if (const Given* given = find(key)) {
    const auto* list = std::get_if<std::vector<ConfigScalar>>(&given->value);
    if (list == nullptr) throw ConfigError(describe(key) + ": expected a list");
    value = *list;
  }
  note(key, value);
}

std::int64_t ConfigTable::read_integer(const std::string& key, std::int64_t fallback,
                                       std::int64_t least) {
  std::int64_t value = fallback;
  if (const Given* given = find(key)) {
    const auto* whole = std::get_if<std::int64_t>(&given->value);
    if (whole == nullptr) throw ConfigError(describe(key) + ": expected a whole number");
    if (*whole < least) throw ConfigError(describe(key) + ": expected a number of 0 or more");
    value = *whole;
  }
  note(key, value);
  return value;
}

std::string ConfigTable::read_choice(const std::string& key, const std::string& fallback,
                                     const std::vector<std::string>& known) {
  std::string value = fallback;
  read(key, value);
  if (std::find(known.begin(), known.end(), value) == known.end()) {
    throw ConfigError(fmt::format("{}: expected one of {}{}", describe(key), fmt::join(known, ", "),
                                  hint(value, known)));
  }
  return value;
}

void ConfigTable::reject_unread() const {
  std::vector<std::string> known;
  for (const Entry& entry : resolved_) known.push_back(entry.key);
  for (const auto& [key, given] : given_) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw ConfigError(fmt::format("unknown setting '{}' (from {}){}", key, given.origin,
                                  hint(key, known, "; see 'fedhur train --help'")));
  }
}

void ConfigSection::require(bool allowed, const std::string& key, std::string_view expected) const {
  if (!allowed) {
    throw ConfigError(fmt::format("{}: expected {}", table_->describe(full(key)), expected));
  }
}
}  // namespace fedhur
