// Which settings a search varies, and over what values.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fedhur/base/config_table.hpp"
#include "fedhur/base/random.hpp"

namespace fedhur::tune {
using Choices = std::vector<ConfigValue>;
struct Range {  // of numbers; whole ones if both ends are
  ConfigValue low;
  ConfigValue high;
  bool is_log = false;  // every factor is as likely as the next
};
struct Dimension {
  std::string key;
  std::variant<Choices, Range> values;
  std::string origin;  // "space.toml:3"
};
using SearchSpace = std::vector<Dimension>;
using Point = std::vector<ConfigValue>;  // a value per dimension

// [space]
// "train.learning_rate" = [0.1, 0.03, 0.01]
// "train.weight_decay" = {low = 1e-6, high = 1e-2, scale = "log"}
// ConfigError "file:line: ..." for anything else.
[[nodiscard]] SearchSpace read_space(const std::string& text, const std::string& name);
[[nodiscard]] SearchSpace read_space_file(const std::filesystem::path& path);
// The TOML file of a method; ConfigError if it has none.
[[nodiscard]] std::string built_in_space(const std::string& method);

// The same space with values as the settings know them (1 becomes 1.0). ConfigError if a key is
// not a setting of the method in `settings`, a value is not allowed there, or comes twice.
[[nodiscard]] SearchSpace resolve_space(SearchSpace space, const ConfigTable& settings);
// As a TOML file.
[[nodiscard]] std::string space_to_toml(const SearchSpace& space);

[[nodiscard]] double number_of(const ConfigValue& value);  // of a range

// The settings at a point.
[[nodiscard]] ConfigTable settings_at(const ConfigTable& settings, const SearchSpace& space,
                                      const Point& point);
// The number of points; nothing where there are ranges. ConfigError if they do not fit 64 bits.
[[nodiscard]] std::optional<std::uint64_t> grid_size(const SearchSpace& space);
// At most `count` points, none twice, in the order of the draw: a longer list begins with the
// shorter one. What the settings say by themselves comes first, if it is in the (resolved) space.
[[nodiscard]] std::vector<Point> draw_points(const SearchSpace& space, const ConfigTable& settings,
                                             std::size_t count, Rng rng);
}  // namespace fedhur::tune
