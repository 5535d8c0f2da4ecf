#include "fedhur/tune/search_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "fedhur/base/embedded_text.hpp"
#include "fedhur/base/file.hpp"
#include "fedhur/base/nearest_name.hpp"
#include "fedhur/experiment/experiment_config.hpp"
#include "fedhur/experiment/toml_value.hpp"

namespace fedhur::tune {
std::span<const EmbeddedText> space_files();  // by fedhur_embed()

using experiment::origin_of;
namespace {
const std::vector<std::string> kRangeWords = {"low", "high", "scale"};

// What is not of the method: trials must differ in nothing that the score depends on otherwise.
constexpr std::array<std::string_view, 10> kCommon = {
    "method", "seed",    "threads",  "data", "synthetic",
    "split",  "clients", "evaluate", "stop", "checkpoint"};

// Rather than a section: misspelt words of a range are to be called that.
bool is_range(const toml::table& table) {
  return std::any_of(table.begin(), table.end(), [](const auto& entry) {
    return entry.second.is_value() && !nearest_name(entry.first.str(), kRangeWords).empty();
  });
}

Range read_range(const toml::table& table, const std::string& key, const std::string& name) {
  const std::string origin = origin_of(table, name);
  for (const auto& [word, value] : table) {
    if (std::find(kRangeWords.begin(), kRangeWords.end(), word.str()) != kRangeWords.end())
      continue;
    throw ConfigError(fmt::format("{}: a range has no '{}'{}", origin, word.str(),
                                  hint(word.str(), kRangeWords)));
  }
  if (!table["low"].is_number() || !table["high"].is_number()) {
    throw ConfigError(
        fmt::format("{}: the range of {} needs two numbers, low and high", origin, key));
  }
  const std::string scale =
      table["scale"].value_or<std::string>(table.contains("scale") ? "something else" : "linear");
  if (scale != "linear" && scale != "log") {
    throw ConfigError(fmt::format("{}: scale of {}: expected \"linear\" or \"log\"", origin, key));
  }
  const double low = *table["low"].value<double>();
  const double high = *table["high"].value<double>();
  if (!(low < high) || !std::isfinite(high - low)) {
    throw ConfigError(fmt::format("{}: range of {}: expected low below high", origin, key));
  }
  if (scale == "log" && low <= 0.0) {
    throw ConfigError(
        fmt::format("{}: range of {}: a logarithmic scale begins above 0", origin, key));
  }
  return {.low = experiment::to_value(*table.get("low"), key, origin),
          .high = experiment::to_value(*table.get("high"), key, origin),
          .is_log = scale == "log"};
}

Choices read_choices(const toml::array& array, const std::string& key, const std::string& name) {
  const std::string origin = origin_of(array, name);
  if (array.empty()) throw ConfigError(fmt::format("{}: {} has no values", origin, key));
  Choices choices;
  for (const toml::node& element : array) {
    choices.push_back(experiment::to_value(element, key, origin_of(element, name)));
  }
  return choices;
}

void read_dimensions(const toml::table& table, const std::string& prefix, const std::string& name,
                     SearchSpace& space) {
  for (const auto& [part, node] : table) {
    const std::string key = prefix + std::string(part.str());
    const std::string origin = origin_of(node, name);
    if (const auto* array = node.as_array()) {
      space.push_back({.key = key, .values = read_choices(*array, key, name), .origin = origin});
    } else if (const auto* nested = node.as_table(); nested != nullptr && is_range(*nested)) {
      space.push_back({.key = key, .values = read_range(*nested, key, name), .origin = origin});
    } else if (nested != nullptr && !nested->empty()) {
      read_dimensions(*nested, key + ".", name, space);
    } else {
      throw ConfigError(fmt::format(
          "{}: {}: expected a list of values, as in [0.1, 0.01], or a range, as in {{low = 0.01, "
          "high = 0.1}}; one value alone is for --set",
          origin, key));
    }
  }
}

// The value as the settings know it, if they know and allow it.
ConfigValue resolve_value(const ConfigTable& settings, const Dimension& dimension,
                          const ConfigValue& value) {
  ConfigTable table = settings;
  table.set(dimension.key, value, dimension.origin);
  const auto resolved = experiment::resolve(table);
  return *find_value(resolved.settings, dimension.key);
}

void check_key(const Dimension& dimension) {
  const std::string section = dimension.key.substr(0, dimension.key.find('.'));
  if (std::find(kCommon.begin(), kCommon.end(), section) == kCommon.end()) return;
  throw ConfigError(
      fmt::format("{}: '{}' is no setting of a method: trials must have it in common, so give it "
                  "with --set",
                  dimension.origin, dimension.key));
}

std::string range_to_toml(const Range& range) {
  return fmt::format("{{low = {}, high = {}, scale = \"{}\"}}", to_toml(range.low),
                     to_toml(range.high), range.is_log ? "log" : "linear");
}

std::string choices_to_toml(const Choices& choices) {
  std::string text;
  for (const ConfigValue& value : choices) text += (text.empty() ? "" : ", ") + to_toml(value);
  return "[" + text + "]";
}
}  // namespace

SearchSpace read_space(const std::string& text, const std::string& name) {
  const toml::table file = experiment::parse_toml(text, name);
  const std::vector<std::string> known = {"space"};
  for (const auto& [key, node] : file) {
    if (key.str() == known.front() && node.is_table()) continue;
    throw ConfigError(fmt::format("{}: unknown '{}'{}", origin_of(node, name), key.str(),
                                  hint(key.str(), known, "; all settings are below [space]")));
  }
  if (file.empty()) throw ConfigError(fmt::format("{}: there is no [space] in it", name));
  SearchSpace space;
  read_dimensions(*file["space"].as_table(), "", name, space);
  std::stable_sort(space.begin(), space.end(),
                   [](const Dimension& a, const Dimension& b) { return a.key < b.key; });
  const auto twice =
      std::adjacent_find(space.begin(), space.end(),
                         [](const Dimension& a, const Dimension& b) { return a.key == b.key; });
  if (twice != space.end()) {
    throw ConfigError(fmt::format("{} and {}: {} is there twice", twice->origin,
                                  std::next(twice)->origin, twice->key));
  }
  return space;
}

SearchSpace read_space_file(const std::filesystem::path& path) {
  std::string text;
  try {
    text = read_text_file(path);
  } catch (const Error& error) {
    throw ConfigError(error.what());
  }
  return read_space(text, path.string());
}

std::string built_in_space(const std::string& method) {
  const auto files = space_files();
  const auto found = std::ranges::find(files, method + ".toml", &EmbeddedText::name);
  if (found != files.end()) return std::string(found->text);
  throw ConfigError(
      fmt::format("there is no search space for the method '{}': give one with --space", method));
}

SearchSpace resolve_space(SearchSpace space, const ConfigTable& settings) {
  for (Dimension& dimension : space) {
    check_key(dimension);
    if (auto* range = std::get_if<Range>(&dimension.values)) {
      range->low = resolve_value(settings, dimension, range->low);
      range->high = resolve_value(settings, dimension, range->high);
      continue;
    }
    auto& choices = std::get<Choices>(dimension.values);
    for (auto value = choices.begin(); value != choices.end(); ++value) {
      *value = resolve_value(settings, dimension, *value);
      if (std::find(choices.begin(), value, *value) != value) {
        throw ConfigError(fmt::format("{}: {} has the value {} twice", dimension.origin,
                                      dimension.key, to_toml(*value)));
      }
    }
  }
  return space;
}

std::string space_to_toml(const SearchSpace& space) {
  std::string text = "[space]\n";
  for (const Dimension& dimension : space) {
    const auto* range = std::get_if<Range>(&dimension.values);
    text += fmt::format("\"{}\" = {}\n", dimension.key,
                        range != nullptr ? range_to_toml(*range)
                                         : choices_to_toml(std::get<Choices>(dimension.values)));
  }
  return text;
}

double number_of(const ConfigValue& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
}

ConfigTable settings_at(const ConfigTable& settings, const SearchSpace& space, const Point& point) {
  ConfigTable table = settings;
  for (std::size_t i = 0; i < space.size(); ++i) {
    table.set(space[i].key, point[i], space[i].origin);
  }
  return table;
}
}  // namespace fedhur::tune
