// Settings that go by one word: configs/preset/<preset>/<method>.toml. `paper` is the published
// regime.
#pragma once
#include <string>

#include "fedhur/base/config_table.hpp"

namespace fedhur::study {
// ConfigError that names what there is, unless there is such a preset of the method.
[[nodiscard]] ConfigTable preset_settings(const std::string& preset, const std::string& method);
// Method and the preset's settings; the method's defaults where the preset has none. ConfigError
// unless there is such a preset.
[[nodiscard]] ConfigTable preset_or_defaults(const std::string& preset, const std::string& method);
}  // namespace fedhur::study
