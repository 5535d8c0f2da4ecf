#include "fedhur/study/preset_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>
#include <span>

#include "fedhur/base/embedded_text.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/experiment/experiment_config.hpp"

namespace fedhur::study {
std::span<const EmbeddedText> preset_files();  // by fedhur_embed()

ConfigTable preset_settings(const std::string& preset, const std::string& method) {
  std::set<std::string> presets;
  std::vector<std::string> methods;
  for (const EmbeddedText& file : preset_files()) {
    const std::filesystem::path path(file.name);
    presets.insert(path.parent_path().string());
    if (path.parent_path() != preset) continue;
    methods.push_back(path.stem().string());
    if (path.stem() != method) continue;
    ConfigTable table;
    experiment::add_toml_text(table, std::string(file.text), "configs/preset/" + path.string());
    return table;
  }
  if (methods.empty()) {
    throw ConfigError(fmt::format("--preset: there is no preset '{}'; expected {}", preset,
                                  fmt::join(presets, " or ")));
  }
  throw ConfigError(fmt::format("--preset: '{}' has nothing for {}; it is one of {}", preset,
                                method, fmt::join(methods, ", ")));
}
}  // namespace fedhur::study
