#include "fedhur/study/preset_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <set>
#include <span>

#include "fedhur/base/embedded_text.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/experiment/experiment_config.hpp"

namespace fedhur::study {
std::span<const EmbeddedText> preset_files();  // by fedhur_embed()

namespace {
// Of the method; nothing if the preset has none.
std::optional<ConfigTable> find_preset(const std::string& preset, const std::string& method) {
  std::set<std::string> presets;
  std::optional<ConfigTable> table;
  for (const EmbeddedText& file : preset_files()) {
    const std::filesystem::path path(file.name);
    presets.insert(path.parent_path().string());
    if (path.parent_path() != preset || path.stem() != method) continue;
    experiment::add_toml_text(table.emplace(), std::string(file.text),
                              "configs/preset/" + path.string());
  }
  if (!presets.contains(preset)) {
    throw ConfigError(fmt::format("--preset: there is no preset '{}'; expected {}", preset,
                                  fmt::join(presets, " or ")));
  }
  return table;
}
}  // namespace

ConfigTable preset_settings(const std::string& preset, const std::string& method) {
  if (auto table = find_preset(preset, method)) return *std::move(table);
  std::vector<std::string> methods;
  for (const EmbeddedText& file : preset_files()) {
    const std::filesystem::path path(file.name);
    if (path.parent_path() == preset) methods.push_back(path.stem().string());
  }
  throw ConfigError(fmt::format("--preset: '{}' has nothing for {}; it is one of {}", preset,
                                method, fmt::join(methods, ", ")));
}

ConfigTable preset_or_defaults(const std::string& preset, const std::string& method) {
  ConfigTable table = find_preset(preset, method).value_or(ConfigTable());
  table.set("method", method, "the table");
  return table;
}
}  // namespace fedhur::study
