// Which format a file has, by its name or else by its first line.
#pragma once
#include <filesystem>
#include <string_view>

#include "fedhur/data/load.hpp"

namespace fedhur::data {
// Never `automatic`. DataError if neither name nor content tell.
[[nodiscard]] Format detect_format(const std::filesystem::path& name, std::string_view text,
                                   const LoadConfig& config);
}  // namespace fedhur::data
