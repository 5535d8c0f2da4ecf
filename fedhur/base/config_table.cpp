#include "fedhur/base/config_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

const ConfigValue* ConfigTable::find(const std::string& key) const {
  const auto found = given_.find(key);
  return found == given_.end() ? nullptr : &found->second.value;
}
}  // namespace fedhur
