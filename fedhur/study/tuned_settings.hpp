// Settings that a search has found, by data set and method: configs/tuned/<data>/<method>.toml.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "fedhur/base/config_table.hpp"

namespace fedhur::study {
// The text of the file; nothing if there was no such search.
[[nodiscard]] std::optional<std::string_view> find_tuned(const std::string& data,
                                                         const std::string& method);
// Method and tuned settings, where there are any; otherwise the method's defaults.
[[nodiscard]] ConfigTable tuned_settings(const std::string& data, const std::string& method);
// For those who ask for tuned settings: ConfigError that names what there is, if there are none.
[[nodiscard]] ConfigTable require_tuned(const std::string& data, const std::string& method);
}  // namespace fedhur::study
