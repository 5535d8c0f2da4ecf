#include "fedhur/study/tuned_settings.hpp"

#include <algorithm>
#include <span>

#include "fedhur/base/embedded_text.hpp"
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
}  // namespace fedhur::study
