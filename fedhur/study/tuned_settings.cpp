#include "fedhur/study/tuned_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

#include "fedhur/base/embedded_text.hpp"
#include "fedhur/base/error.hpp"
#include "fedhur/experiment/experiment_config.hpp"

namespace fedhur::study {
std::span<const EmbeddedText> tuned_files();  // by fedhur_embed()

std::optional<std::string_view> find_tuned(const std::string& data, const std::string& method) {
  const std::string name = data + "/" + method + ".toml";
  const auto files = tuned_files();
  const auto found = std::ranges::find(files, name, &EmbeddedText::name);
  if (found == files.end()) return std::nullopt;
  return found->text;
}

ConfigTable tuned_settings(const std::string& data, const std::string& method) {
  ConfigTable table;
  if (const auto text = find_tuned(data, method)) {
    experiment::add_toml_text(table, std::string(*text),
                              "configs/tuned/" + data + "/" + method + ".toml");
  }
  table.set("method", method, "the table");
  return table;
}

ConfigTable require_tuned(const std::string& data, const std::string& method) {
  if (find_tuned(data, method)) return tuned_settings(data, method);
  std::set<std::string> data_sets;
  std::vector<std::string> methods;
  for (const EmbeddedText& file : tuned_files()) {
    const std::filesystem::path path(file.name);
    data_sets.insert(path.parent_path().string());
    if (path.parent_path() == data) methods.push_back(path.stem().string());
  }
  if (methods.empty()) {
    throw ConfigError(
        fmt::format("--tuned: there are no tuned settings for data called '{}'; name the data set "
                    "whose settings to take, one of {}, as in --tuned ml-100k",
                    data, fmt::join(data_sets, ", ")));
  }
  throw ConfigError(
      fmt::format("--tuned: there are no tuned settings of {} for {}; there are some of {}", method,
                  data, fmt::join(methods, ", ")));
}
}  // namespace fedhur::study
